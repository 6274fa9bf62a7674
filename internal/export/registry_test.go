package export_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestRegistryHasTheDevicesAndTheDaemonItself(t *testing.T) {
	s := recordtest.Snapshot()
	s.Controllers = append(s.Controllers, sataDrive())
	everyQueue(s.Controllers[0].Interrupts)
	s.Targets[0].Probes[0].Effect = &record.Effect{
		Changes: []record.Change{{Condition: "kernel", From: "6.1", To: "6.12"}},
		Ratios:  map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1.01}},
	}
	s.Targets[0].Probes[0].Lifetime = map[record.Statistic]record.Lifetime{record.LatencyP50: {Ratio: record.Ratio{Ratio: 1.19}}}
	s.Targets[0].Verdict = &record.Judgement{Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonLoad, Since: recordtest.Now()}}
	s.Targets[0].Probes[0].UnjudgedBlocks = 14
	s.Targets[0].Traffic.Last.CoarseTimes = true
	s.Targets[1].Verdict.Accepted = recordtest.Now()
	s.Targets[1].Verdict.Attribution = s.Targets[0].Probes[0].Effect.Changes
	s.Controllers[0].Health.SelfTests[0].Failed = true
	s.Host = &record.Judgement{Verdict: record.Degraded, Ratio: record.Ratio{Ratio: 1.3, Lower: 1.2, Upper: 1.4}, Since: recordtest.Now(), Accepted: recordtest.Now()}
	few := record.Histogram{{Latency: time.Second, Count: 500}}
	steps := s.Targets[1].Runs[0].Last.Steps
	steps[0].Read.Latency, steps[1].Write.Latency = few, few
	r, err := export.NewRegistry(func() record.Snapshot { return s }, observed(s), export.Build{})
	require.NoError(t, err)
	families, err := r.Gather()
	require.NoError(t, err)
	all, _ := exposition(t, families)
	for _, name := range names(t) {
		assert.Contains(t, all, name)
	}
	assert.Contains(t, all, "go_goroutines")
	assert.Contains(t, all, "process_resident_memory_bytes")
}
