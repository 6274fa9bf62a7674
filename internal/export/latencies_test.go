package export_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// round returns a round of two I/Os, of 80 µs and 2 ms.
func round(id, probe string, outcome record.Outcome) record.Measurement {
	return record.Measurement{
		Device: id, Probe: probe, Outcome: outcome,
		Latency: record.Histogram{{Latency: 80 * time.Microsecond, Count: 1}, {Latency: 2 * time.Millisecond, Count: 1}},
	}
}

// watching returns a snapshot of one target with these probes.
func watching(device, id string, probes ...string) record.Snapshot {
	target := record.TargetStatus{ID: id, Device: record.Device{Name: device}}
	for _, p := range probes {
		target.Probes = append(target.Probes, record.ProbeStatus{Probe: record.Probe{Name: p}})
	}
	return record.Snapshot{Targets: []record.TargetStatus{target}}
}

// counts returns the numbers of I/Os in the histograms, by device, id and probe.
func counts(t *testing.T, s record.Snapshot, l *export.Latencies) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	for _, f := range gather(t, s, l) {
		if f.GetName() != "ssdprobe_probe_latency_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			found[strings.Join(labels, " ")] = m.GetHistogram().GetSampleCount()
		}
	}
	return found
}

func TestOnlyRoundsThatMeasuredTheDeviceCount(t *testing.T) {
	for outcome, want := range map[record.Outcome]map[string]uint64{
		record.OutcomeOK:        {"sda w1 read": 2},
		record.OutcomeError:     {"sda w1 read": 2},
		record.OutcomeBusy:      {},
		record.OutcomeDisturbed: {},
		record.OutcomeUnmapped:  {},
		record.OutcomeTimeout:   {"sda w1 read": 2},
	} {
		l := export.NewLatencies()
		l.Observe("sda", round("w1", "read", outcome))
		assert.Equal(t, want, counts(t, watching("sda", "w1", "read"), l), outcome)
	}
	l := export.NewLatencies()
	l.Observe("sda", record.Measurement{Device: "w1", Probe: "read", Outcome: record.OutcomeError})
	assert.Empty(t, counts(t, watching("sda", "w1", "read"), l), "every I/O failed")
}

func TestLatenciesAddUp(t *testing.T) {
	l := export.NewLatencies()
	for range 3 {
		l.Observe("sda", round("w1", "read", record.OutcomeOK))
	}
	all, _ := exposition(t, gather(t, watching("sda", "w1", "read"), l))
	const labels = `{device="sda",id="w1",probe="read"`
	for _, line := range []string{
		`_bucket` + labels + `,le="0.00025"} 3`,
		`_bucket` + labels + `,le="0.001"} 3`,
		`_bucket` + labels + `,le="0.01"} 6`,
		`_bucket` + labels + `,le="+Inf"} 6`,
		`_count` + labels + `} 6`,
	} {
		assert.Contains(t, all["ssdprobe_probe_latency_seconds"], "ssdprobe_probe_latency_seconds"+line+"\n")
	}
}

func TestADeviceThatComesBackUnderAnotherName(t *testing.T) {
	l := export.NewLatencies()
	l.Observe("sda", round("w1", "read", record.OutcomeOK))
	l.Observe("sda", round("w1", "read", record.OutcomeOK))
	l.Observe("sda", round("w1", "write", record.OutcomeOK))

	renamed := watching("sdb", "w1", "read", "write")
	assert.Empty(t, counts(t, renamed, l), "no series of the old name, none of the new one yet")
	l.Observe("sdb", round("w1", "read", record.OutcomeOK))
	assert.Equal(t, map[string]uint64{"sdb w1 read": 2}, counts(t, renamed, l))

	// Another device gets the old name, and then the first device takes it back.
	l.Observe("sda", round("w2", "read", record.OutcomeOK))
	assert.Equal(t, map[string]uint64{"sda w2 read": 2}, counts(t, watching("sda", "w2", "read"), l))
	l.Observe("sda", round("w1", "read", record.OutcomeOK))
	assert.Equal(t, map[string]uint64{"sda w1 read": 2}, counts(t, watching("sda", "w1", "read"), l), "begun anew")
}

func TestForgetTakesAllOfATargetAndNothingElse(t *testing.T) {
	l := export.NewLatencies()
	for _, id := range []string{"w1", "w10", "\xff"} {
		l.Observe("sda", round(id, "read", record.OutcomeOK))
		l.Observe("sda", round(id, "write", record.OutcomeOK))
	}
	l.Forget("w1")
	l.Forget("\xff")
	l.Forget("never seen")
	assert.Empty(t, counts(t, watching("sda", "w1", "read", "write"), l))
	assert.Empty(t, counts(t, watching("sda", "\xff", "read", "write"), l))
	assert.Equal(t, map[string]uint64{"sda w10 read": 2, "sda w10 write": 2}, counts(t, watching("sda", "w10", "read", "write"), l))

	l.Observe("sda", round("w1", "read", record.OutcomeOK))
	assert.Equal(t, map[string]uint64{"sda w1 read": 2}, counts(t, watching("sda", "w1", "read"), l), "begun anew")
}

func TestNewIOsAreInTheNextScrape(t *testing.T) {
	l := export.NewLatencies()
	r, err := export.NewRegistry(func() record.Snapshot { return watching("sda", "w1", "read") }, l, export.Build{})
	require.NoError(t, err)
	for i := range uint64(3) {
		l.Observe("sda", round("w1", "read", record.OutcomeOK))
		for range 2 {
			families, err := r.Gather()
			require.NoError(t, err)
			at := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "ssdprobe_probe_latency_seconds" })
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, 2*(i+1), families[at].GetMetric()[0].GetHistogram().GetSampleCount())
		}
	}
}

// Rounds end, and devices come and go, during scrapes.
func TestLatenciesAreSafeForConcurrentUse(t *testing.T) {
	const workers, rounds = 4, 50
	l := export.NewLatencies()
	s := watching("sda", "kept", "read")
	s.Targets = append(s.Targets, watching("sdb", "moving", "read").Targets...)
	r, err := export.NewRegistry(func() record.Snapshot { return s }, l, export.Build{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range rounds {
				l.Observe("sda", round("kept", "read", record.OutcomeOK))
				l.Observe([]string{"sdb", "sdc"}[(w+i)%2], round("moving", "read", record.OutcomeOK))
				if i%10 == 0 {
					l.Forget("moving")
				}
			}
		})
		all.Go(func() {
			for range rounds / 5 {
				families, err := r.Gather()
				if assert.NoError(t, err) {
					exposition(t, families)
				}
			}
		})
	}
	all.Wait()
	l.Forget("moving")
	require.Equal(t, map[string]uint64{"sda kept read": 2 * workers * rounds}, counts(t, s, l))
}
