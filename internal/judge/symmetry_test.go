package judge_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// toldOf returns what is told about a node whose drives come in an order and are slower by a factor from the start.
func toldOf(s drifttest.Scenario, slower float64, order func([]drifttest.Drive) []drifttest.Drive) []string {
	n := judge.NewNode(drift.Default())
	for _, d := range order(slices.Clone(s.Drives)) {
		n.AddDrive(judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes})
		for _, source := range sources() {
			n.Tracker(d.ID, source)
		}
	}
	var told []string
	var now time.Time
	for i, x := range s.Samples {
		if x.Time.After(now) && drift.Slot(x.Time) != drift.Slot(now) { // all drives of a block have delivered
			for _, e := range n.Advance(now) {
				told = append(told, fmt.Sprint(e.Time.Unix(), e.Drive, e.Scope, e.Drives, e.Verdict, e.Witnesses, e.Source, e.Statistic, e.State, e.Cause))
			}
		}
		now = x.Time
		o := x.Others
		work := drift.Work{Known: o.Known, Reads: o.Reads, Writes: o.Writes, ReadBytes: o.ReadBytes, WrittenBytes: o.WriteBytes}
		if !x.Refused() && !x.Loaded {
			v := drift.Values{x.Values[0] * slower, x.Values[1] * slower, x.Values[2] * slower, x.Values[3] / slower}
			n.Round(s.Drives[i].ID, "read-4k", drift.Round{Time: x.Time, Values: v, Utilisation: x.Utilisation, Work: work}, x.Conditions)
		}
		n.Traffic(s.Drives[i].ID, judge.Sample{
			Time: x.Time, Work: work, Utilisation: x.Utilisation, Read: o.ReadLatency * slower, Write: o.WriteLatency * slower, Flush: o.FlushLatency * slower,
		}, x.Conditions)
	}
	slices.Sort(told)
	return told
}

// Neither the order in which drives are found nor a factor that all latencies share changes what is told, and when.
func TestWhatDoesNotMatter(t *testing.T) {
	testenv.Long(t)
	node := drifttest.Fleet{Seed: 5, Days: 3}.Node
	asTheyAre := func(d []drifttest.Drive) []drifttest.Drive { return d }
	want := toldOf(node(14), 1, asTheyAre)
	assert.NotEmpty(t, want)
	assert.Equal(t, want, toldOf(node(14), 16, asTheyAre), "all are slower from the start")
	assert.Equal(t, want, toldOf(node(14), 1, func(d []drifttest.Drive) []drifttest.Drive { slices.Reverse(d); return d }), "in another order")
}
