package recordtest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestEveryCallReturnsTheSameInFreshMemory(t *testing.T) {
	first, second := recordtest.Snapshot(), recordtest.Snapshot()
	require.Equal(t, first, second)
	for i := range first.Targets {
		target := &first.Targets[i]
		target.Changed["kernel"] = time.Time{}
		target.Device.Link.CurrentLanes = 1
		target.Device.ByID[0] = ""
		target.Collectors[0].Success = false
		target.Traffic.Last.Read.IOs = 0
		for j := range target.Probes {
			p := &target.Probes[j]
			p.Rounds[record.OutcomeOK] = 0
			p.Last.Latency[0].Count = 0
			p.Window.Latency[0].Count = 0
			p.Drift[0].Attribution = append(p.Drift[0].Attribution, record.Change{})
		}
	}
	*first.Targets[0].WrittenRatio = 0
	first.Targets[0].Probes[0].Baseline.Values[record.IOPS] = 0
	first.Targets[1].Probes[0].Errors["EIO"] = 0
	first.Targets[1].Probes[0].Last.Load.Others.Reads = 0
	first.Targets[1].Traffic.Stalls[0].Length = 0
	first.Targets[1].Traffic.StallTotals[record.StallByRun] = record.StallTotal{Count: 1}
	first.Targets[1].Probes[1].Drift[0].Attribution[0] = record.Change{}
	first.Warnings[0].Code = ""
	*first.Controllers[0].Interrupts.PerIO = 0
	first.Controllers[0].Interrupts.Queues[0].Count = 0
	first.Controllers[1].Health.Temperatures[0].Celsius = 0
	*first.Controllers[1].Health.Features.WriteCache = true
	assert.Equal(t, second, recordtest.Snapshot())
}

func TestTheSnapshotSurvivesJSON(t *testing.T) {
	data, err := json.Marshal(recordtest.Snapshot())
	require.NoError(t, err)
	var back record.Snapshot
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, recordtest.Snapshot(), back)
}

// The fixture must not contain anything that a daemon could not report.
func TestTheSnapshotAgreesWithItself(t *testing.T) {
	s := recordtest.Snapshot()
	names := map[string]string{} // of conditions
	for _, c := range (record.Conditions{}).List() {
		names[c.Name] = ""
	}
	var collectors []string
	for _, c := range s.Collectors {
		collectors = append(collectors, c.Collector)
		assert.Equal(t, c.Success, c.Error == "", c.Collector)
		assert.Empty(t, c.Device)
	}
	assert.Equal(t, []string{"discovery", "interrupts", "state", "traffic"}, collectors)

	for _, target := range s.Targets {
		t.Run(target.ID, func(t *testing.T) {
			device := target.Device
			if target.File {
				assert.True(t, strings.HasPrefix(target.ID, "file:"))
				assert.Nil(t, target.WrittenRatio)
			} else {
				assert.Equal(t, device.ID, target.ID)
				assert.Equal(t, "/dev/"+device.Name, target.Path)
				assert.NotNil(t, target.WrittenRatio)
			}
			assert.Equal(t, device.Link.Current(), target.Conditions.PCIeLink)
			warned := len(target.Warnings) == 1 && target.Warnings[0].Code == record.WarnLinkBelowMaximum
			assert.Equal(t, device.Link.BelowMaximum(), warned)
			for name, at := range target.Changed {
				assert.Contains(t, names, name)
				assert.WithinRange(t, at, s.Started, s.Time)
			}
			require.Len(t, target.Collectors, 2)
			for i, name := range []string{"conditions", "health"} {
				assert.Equal(t, name, target.Collectors[i].Collector)
				assert.Equal(t, device.Name, target.Collectors[i].Device)
			}
			controllers := s.ControllersOf(device.ID)
			require.Len(t, controllers, 1)
			assert.Equal(t, device.Controllers[0], controllers[0].Name)
			assert.Equal(t, device.Serial, controllers[0].Health.Identity.Serial)

			var probes, meant []string
			for _, p := range target.Probes {
				probes = append(probes, p.Probe.Name)
				checkProbe(t, s, target, p)
			}
			for _, p := range record.DefaultProbes() {
				if p.RunsOn(target.File) {
					meant = append(meant, p.Name)
				}
			}
			assert.Equal(t, meant, probes)
		})
	}
}

func checkProbe(t *testing.T, s record.Snapshot, target record.TargetStatus, p record.ProbeStatus) {
	t.Helper()
	assert.Equal(t, target.ID, p.Last.Device)
	assert.Equal(t, p.Probe.Name, p.Last.Probe)
	assert.Equal(t, target.Conditions, p.Last.Conditions)
	assert.Positive(t, p.Rounds[p.Last.Outcome])
	assert.Equal(t, p.Probe.RoundBytes(), p.Last.ReadBytes+p.Last.WrittenBytes)
	assert.EqualValues(t, p.Probe.IOs, p.Last.Latency.Count())
	assert.EqualValues(t, p.Window.Rounds*p.Probe.IOs, p.Window.Latency.Count())
	assert.WithinRange(t, p.LastSuccess, s.Time.Add(-2*p.Probe.Interval), s.Time)
	assert.WithinRange(t, p.Next, s.Time, s.Time.Add(p.Probe.Interval))
	assert.Len(t, p.Drift, len(record.Statistics()))
	for _, d := range p.Drift {
		if p.Baseline == nil {
			assert.Equal(t, record.Drift{
				Statistic: d.Statistic, State: record.Learning, Since: d.Since,
				Unjudged: &record.WhyUnjudged{Reason: record.ReasonLearning, Since: d.Since},
			}, d)
			assert.Less(t, p.LearningRounds, p.LearningGoal)
			continue
		}
		assert.Equal(t, p.LearningGoal, p.LearningRounds)
		assert.Less(t, d.Lower, d.Ratio)
		assert.Greater(t, d.Upper, d.Ratio)
		if d.State == record.Stable {
			assert.InDelta(t, 1, d.Ratio, 0.1, d.Statistic)
		} else {
			assert.Greater(t, d.Ratio, 1.1, d.Statistic)
		}
	}
}
