package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// watched is a node whose drives have a round a minute, and the traffic of their users. slower is how many times slower than
// normal each drive is.
type watched struct {
	node   *judge.Node
	now    time.Time
	slower map[string]float64
}

func (w *watched) run(d time.Duration) (events []judge.Event) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(time.Minute)
		for i, id := range []string{"eui.a", "eui.b", "eui.c", "eui.d"} {
			// A noise of 3 % that repeats after 17 rounds, and so differs from block to block.
			x := 80e-6 * max(1, w.slower[id]) * (1 + 0.03*float64((int(w.now.Unix()/60)+5*i)*7%17-8)/8)
			c := record.Conditions{Firmware: "A", Kernel: "6.8", Engine: "ssdprobe-2"}
			w.node.Round(id, "read-4k", drift.Round{Time: w.now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, c)
			w.node.Traffic(id, judge.Sample{
				Time: w.now, Work: drift.Work{Known: true, Reads: 2000, Writes: 500, ReadBytes: 16e6, WrittenBytes: 8e6}, Utilisation: 0.2, Read: 1.5 * x, Write: 0.5 * x,
			}, c)
		}
		events = append(events, w.node.Advance(w.now)...)
	}
	return events
}

// testdata/version-2.txtar is the state of the build before this one, of a node that had run like this for two days; eui.c has been
// 1.5 times slower for six hours. An upgrade alarms nobody, keeps the verdict, and learns nothing anew.
func TestAnUpgradeAlarmsNobody(t *testing.T) {
	dir, _ := archived(t, "version-2.txtar")
	n, last, err := dir.Judged(config.Default())
	require.NoError(t, err)
	verdict := func(id string) record.Judgement {
		v, ok := n.Verdict(id)
		require.True(t, ok)
		return v
	}
	before := verdict("eui.c")
	require.Equal(t, record.Degraded, before.Verdict)
	learned := n.Explain("eui.c", "read-4k", last).Conditions

	w := &watched{node: n, now: last, slower: map[string]float64{"eui.c": 1.5}}
	for _, e := range w.run(24 * time.Hour) {
		assert.False(t, e.Verdict.Blames() || e.State == record.Regressed, "%s %s %s", e.Drive, e.Source, e.Verdict)
		assert.False(t, e.Drift != nil && len(e.Drift.Changes) > 0, "a new epoch")
	}
	assert.Equal(t, record.Degraded, verdict("eui.c").Verdict)
	assert.Equal(t, before.Since, verdict("eui.c").Since)
	assert.Equal(t, learned, n.Explain("eui.c", "read-4k", w.now).Conditions)
	assert.Equal(t, record.Healthy, n.Host().Verdict)
	for _, id := range []string{"eui.a", "eui.b", "eui.d"} {
		assert.Equal(t, record.Healthy, verdict(id).Verdict, id)
	}

	w.slower["eui.b"] = 1.5
	w.run(time.Hour)
	assert.Equal(t, record.Degraded, verdict("eui.b").Verdict, "it still judges")
	w.slower = map[string]float64{"eui.a": 1.3, "eui.b": 1.3, "eui.c": 1.3, "eui.d": 1.3}
	w.run(3 * time.Hour)
	assert.Equal(t, record.Degraded, n.Host().Verdict, "and knows the host")
}
