package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// follower judges a scenario.
type follower struct {
	t    *testing.T
	node *judge.Node
	here []drifttest.Drive
	now  time.Time
	told []string
}

// take takes a sample of a drive. Slot 0 is no slot of a real block, so the time is years later than that of the scenario.
func (f *follower) take(d drifttest.Drive, s drifttest.Sample) {
	f.now = s.Time.Add(20_000 * day)
	f.here = slices.DeleteFunc(f.here, func(o drifttest.Drive) bool {
		gone := s.Time.Sub(drifttest.Start()) >= o.To
		if gone {
			f.node.RemoveDrive(o.ID)
		}
		return gone
	})
	if !slices.ContainsFunc(f.here, func(o drifttest.Drive) bool { return o.ID == d.ID }) {
		f.here = append(f.here, d)
		f.add(f.node, d)
	}
	o := s.Others
	work := drift.Work{Known: o.Known, Reads: o.Reads, Writes: o.Writes, ReadBytes: o.ReadBytes, WrittenBytes: o.WriteBytes}
	if !s.Refused() && !s.Loaded {
		f.node.Round(d.ID, "read-4k", drift.Round{Time: f.now, Values: s.Values, Utilisation: s.Utilisation, Work: work}, s.Conditions)
	}
	if o.Known {
		f.node.Traffic(d.ID, judge.Sample{Time: f.now, Work: work, Utilisation: s.Utilisation, Read: o.ReadLatency, Write: o.WriteLatency, Flush: o.FlushLatency}, s.Conditions)
	}
	f.advance()
}

func (f *follower) add(n *judge.Node, d drifttest.Drive) {
	n.AddDrive(judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes})
	for _, source := range sources() {
		require.NotNil(f.t, n.Tracker(d.ID, source))
	}
}

func (f *follower) advance() {
	for _, e := range f.node.Advance(f.now) {
		if e.Drive != asking {
			f.told = append(f.told, fmt.Sprint(e.Time.Unix(), e.Drive, e.Scope, e.Drives, e.Verdict, e.Witnesses, e.Ratio, e.Since.Unix(), e.Source, e.Statistic, e.State, e.Cause))
		}
	}
}

// reseat removes the drive that is there for longest and adds it again, so that it is the last.
func (f *follower) reseat() {
	d := f.here[0]
	f.here = append(f.here[1:], d)
	trackers := map[string]*drift.Tracker{}
	for _, source := range sources() {
		trackers[source] = f.node.Tracker(d.ID, source)
	}
	f.node.RemoveDrive(d.ID)
	f.node.AddDrive(judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes})
	for _, source := range sources() {
		f.node.Attach(d.ID, source, trackers[source])
	}
}

// asking is the id of a target without rounds.
const asking = "asking"

// conclude makes the node come to a verdict on all drives, as it does when something is attached.
func (f *follower) conclude() {
	f.node.AddDrive(judge.Drive{ID: asking, Group: asking})
	f.node.Attach(asking, asking, drift.NewTracker(drift.Default()))
	f.advance()
	f.node.RemoveDrive(asking)
}

func (f *follower) restart() {
	node := judge.NewNode(drift.Default())
	require.NoError(f.t, node.Restore(again(f.t, f.node.State(f.now))))
	for _, d := range f.here {
		node.AddDrive(judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes})
		for _, source := range sources() {
			tracker := drift.NewTracker(drift.Default())
			if source == judge.Traffic {
				tracker = judge.NewTrafficTracker(drift.Default())
			}
			require.NoError(f.t, tracker.Restore(again(f.t, f.node.Tracker(d.ID, source).State())))
			node.Attach(d.ID, source, tracker)
		}
	}
	f.node = node
}

// accept accepts whatever can be accepted.
func (f *follower) accept() {
	_, _ = f.node.AcceptHost("as it is", f.now) // there may be nothing
	for _, d := range f.here {
		_, _ = f.node.AcceptLevels(d.ID, "", "as it is", f.now)
	}
}

// knows returns all that is known.
func (f *follower) knows() (all []string) {
	f.t.Helper()
	add := func(what string, v any) {
		text, err := json.Marshal(v)
		require.NoError(f.t, err)
		all = append(all, what+" "+string(text))
	}
	state := f.node.State(f.now)
	for _, d := range state.Drives {
		for name, source := range d.Sources {
			source.Day = judge.Day{} // it may begin with blocks in which nothing was comparable, or without them
			d.Sources[name] = source
		}
		if d.ID != asking {
			add(d.ID, d)
		}
	}
	for _, h := range state.Hosts {
		if h.Source != asking {
			add("host", h)
		}
	}
	for _, d := range f.here {
		add("beside", f.node.Beside(d.ID))
		for _, source := range sources() {
			add(d.ID+" "+source, f.node.Tracker(d.ID, source).State())
			add(d.ID+" "+source, f.node.Tracker(d.ID, source).Explain(f.now))
		}
	}
	add("together", f.node.Together())
	add("verdict", f.node.Host())
	return all
}

// A node that is restarted after any round knows, and says, the same as one that was never restarted: on nodes with changes of
// conditions and work, drives that come and go, slow drives, batches and hosts, and with levels that are accepted.
func TestARestartAfterAnyRoundChangesNothing(t *testing.T) {
	testenv.Long(t)
	scenarios := map[string]drifttest.Scenario{}
	for kind, drives := range map[string]int{"one": 3, "host": 2, "batch": 6, "born": 4} {
		scenarios[kind] = drifttest.Node{Kind: kind, Noise: "wander", Seed: 7, Drives: drives, Days: 3}.Scenario()
	}
	for _, number := range []int{2, 5} {
		scenarios[fmt.Sprint("fleet ", number)] = drifttest.Fleet{Seed: 9, Days: 3}.Node(number)
	}
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once, often := &follower{t: t, node: judge.NewNode(drift.Default())}, &follower{t: t, node: judge.NewNode(drift.Default())}
			restarts, every := 0, 97*len(s.Drives)+1 // not always after the same drive
			rounds := 0
			for i, sample := range s.Samples {
				if at := sample.Time.Sub(drifttest.Start()); at > 40*time.Hour && at < 53*time.Hour {
					sample.Conditions.Kernel = "another"
				}
				once.take(s.Drives[i], sample)
				often.take(s.Drives[i], sample)
				if rounds++; rounds%every != 0 {
					continue
				}
				restarts++
				for _, f := range []*follower{once, often} {
					switch restarts % 10 {
					case 3:
						f.accept()
					case 7:
						f.reseat()
					}
				}
				often.restart()
				once.conclude()
				often.conclude()
				require.Equal(t, once.told, often.told, "%s", once.now)
				require.Equal(t, once.knows(), often.knows(), "%s", once.now)
			}
			assert.NotEmpty(t, once.told)
		})
	}
}
