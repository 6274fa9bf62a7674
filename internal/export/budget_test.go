package export_test

import (
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// Prometheus pays by the series.
const (
	// budget is for a raw NVMe device on which all is well, between two rounds: its
	// health with three temperatures and the interrupts of any number of queues included.
	budget = 170
	// budgetOfTrouble is for one on which all goes wrong at once.
	budgetOfTrouble = 195
)

func TestSeriesOfADeviceOnWhichAllIsWell(t *testing.T) {
	s := recordtest.Snapshot()
	assert.LessOrEqual(t, series(gather(t, s, observed(s)), recordtest.HealthyID), budget)
}

func TestSeriesOfADeviceInTrouble(t *testing.T) {
	s := recordtest.Snapshot()
	target := &s.Targets[1]
	target.Runs = nil // full runs are asked for, and cost by their steps
	latencies := export.NewLatencies()
	for i := range target.Probes {
		p := &target.Probes[i]
		p.Last.Outcome = record.OutcomeError
		p.Errors = map[string]uint64{"EIO": 3}
		latencies.Observe(target.Device.Name, *p.Last)
		for j := range p.Drift {
			p.Drift[j].State = record.Regressed
			p.Drift[j].Attribution = []record.Change{{Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"}}
		}
	}
	target.Probes[0].InflightSince = recordtest.Now() // one round at a time
	assert.LessOrEqual(t, series(gather(t, s, latencies), recordtest.RegressedID), budgetOfTrouble)
}

// series counts those of a target as Prometheus does without native histograms.
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
