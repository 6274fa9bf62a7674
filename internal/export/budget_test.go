package export_test

import (
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// The cost of Prometheus depends on the number of series.
const (
	// budget is the limit for a healthy raw NVMe device between two rounds. It includes its health with three
	// temperatures, the interrupts of any number of queues, and traffic of all operations.
	budget = 151
	// budgetOfTrouble is the limit for a device on which everything goes wrong at once.
	budgetOfTrouble = 185
	// budgetOfFile is the limit for a file with a write probe that has the health of its drive, because the drive
	// itself is not watched.
	budgetOfFile = 188
	// budgetOfIO is the limit for the latencies of applications' I/O in addition to those, with all operations, on a
	// device with a scheduler. So any device has at most 250 series, including such a file.
	budgetOfIO = 62
	// seriesOfAQueue is the number of series per queue of each controller when all interrupts are exported.
	seriesOfAQueue = 2
)

func TestSeriesOfADeviceOnWhichAllIsWell(t *testing.T) {
	s := recordtest.Snapshot()
	target := &s.Targets[0]
	target.Verdict = &record.Judgement{Verdict: record.Healthy}
	target.Traffic.Last.Discard = target.Traffic.Last.Write
	within(t, s, observed(s), target, budget)
}

func TestSeriesOfAFileWithTheHealthOfItsDrive(t *testing.T) {
	s := recordtest.Snapshot()
	target := &s.Targets[0]
	target.Verdict = &record.Judgement{Verdict: record.Healthy}
	target.Traffic.Last.Discard = target.Traffic.Last.Write
	writes := target.Probes[0]
	writes.Probe.Name = "durable-write-4k"
	last := *writes.Last
	last.Probe = writes.Probe.Name
	writes.Last = &last
	target.Probes = append(target.Probes, writes)
	within(t, s, observed(s), target, budgetOfFile)
}

func TestSeriesOfADeviceInTrouble(t *testing.T) {
	s := recordtest.Snapshot()
	target := &s.Targets[1]
	link := []record.Change{{Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"}}
	target.Verdict.Verdict, target.Verdict.Attribution = record.Severe, link // with a ratio and its interval
	for _, witness := range []string{"probes", "traffic", "stalls", "errors"} {
		target.Verdict.Began(witness, recordtest.Now())
	}
	target.Runs = nil // runs of suites happen on request, and their cost depends on their steps
	latencies := export.NewLatencies()
	for i := range target.Probes {
		p := &target.Probes[i]
		p.Last.Outcome = record.OutcomeError
		p.Errors = map[string]uint64{"EIO": 3}
		latencies.Observe(target.Device.Name, *p.Last)
		p.UnjudgedBlocks = 14
		for j := range p.Drift {
			p.Drift[j].State = record.Regressed // a statistic that is not compared has fewer series: no ratio
			p.Drift[j].Attribution = link
		}
	}
	target.Probes[0].InflightSince = recordtest.Now() // one round at a time
	s.Controllers[1].Health.SelfTests[0].Failed = true
	within(t, s, latencies, target, budgetOfTrouble)
}

// Interrupts by queue cost what docs/configuration.md says about health.interrupts.
func TestSeriesOfEveryQueue(t *testing.T) {
	s := recordtest.Snapshot()
	i := s.Controllers[0].Interrupts
	id := s.Targets[0].ID
	before := series(gather(t, s, export.NewLatencies()), id)
	everyQueue(i)
	assert.Equal(t, seriesOfAQueue*len(i.Queues), series(gather(t, s, export.NewLatencies()), id)-before)
}

// within compares the series of a target with its budget, without and with eBPF.
func within(t *testing.T, s record.Snapshot, latencies *export.Latencies, target *record.TargetStatus, budget int) {
	t.Helper()
	all := series(gather(t, s, latencies), target.ID)
	target.IOLatency = &record.IOLatency{Unavailable: record.IOLatencyOff}
	without := series(gather(t, s, latencies), target.ID)
	assert.LessOrEqual(t, without, budget)
	assert.Equal(t, budgetOfIO, all-without, "all histograms that a device can have")
}

// series counts the series of a target as Prometheus does without native histograms.
func series(families []*dto.MetricFamily, id string) int {
	n := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if !labelled(m, "id", id) {
				continue
			}
			n++
			if h := m.GetHistogram(); h != nil {
				n += len(h.GetBucket()) + 2 // +Inf, sum and count
			}
		}
	}
	return n
}

func labelled(m *dto.Metric, name, value string) bool {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue() == value
		}
	}
	return false
}
