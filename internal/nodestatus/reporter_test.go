package nodestatus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// daemon watches two drives, nvme0n1 and nvme1n1, and has a Reporter.
type daemon struct {
	t    *testing.T
	node string
	end  func()
	// reporter is the one that is running.
	reporter *Reporter

	mu       sync.Mutex
	snapshot record.Snapshot
	told     map[string]record.ToldVerdict
	log      bytes.Buffer
	failures []error // the result of each attempt
}

// target returns a drive with a verdict.
func target(name string, v record.DriveVerdict, since time.Time) record.TargetStatus {
	j := record.Judgement{Verdict: v, Scope: record.ScopeDrive}
	switch {
	case v == record.Unjudged:
		j.Unjudged = &record.WhyUnjudged{Reason: record.ReasonLearning}
	case v.Blames():
		j.Since, j.Witnesses, j.ThanBefore = since, []string{"probes"}, []string{"probes"}
		j.Ratio = record.Ratio{Ratio: 1.31, Lower: 1.27, Upper: 1.36}
		if v == record.Severe { // about twice as slow
			j.Ratio = record.Ratio{Ratio: 2.3, Lower: 2.2, Upper: 2.4}
		}
	}
	return record.TargetStatus{ID: "eui." + name, Path: "/dev/" + name, Device: record.Device{ID: "eui." + name, Name: name}, Verdict: &j}
}

// says sets the verdicts on the drives.
func (d *daemon) says(verdicts ...record.DriveVerdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.snapshot = record.Snapshot{Time: time.Now(), Node: d.node}
	for i, v := range verdicts {
		d.snapshot.Targets = append(d.snapshot.Targets, target(fmt.Sprintf("nvme%dn1", i), v, time.Now()))
	}
}

func (d *daemon) change(f func(*record.Snapshot)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.snapshot)
}

// options returns the options of a daemon of a node.
func (d *daemon) options(more func(*Options)) Options {
	o := Options{
		Node: d.node, MaxTaints: 1, Told: d.told,
		Snapshot: func() record.Snapshot { d.mu.Lock(); defer d.mu.Unlock(); return d.snapshot },
		Keep:     func(told map[string]record.ToldVerdict) { d.mu.Lock(); defer d.mu.Unlock(); d.told = told },
		Asked:    func(_ time.Time, err error) { d.mu.Lock(); defer d.mu.Unlock(); d.failures = append(d.failures, err) },
		Log:      slog.New(slog.NewTextHandler(locked{d}, nil)),
	}
	if more != nil {
		more(&o)
	}
	return o
}

type locked struct{ d *daemon }

func (l locked) Write(p []byte) (int, error) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	return l.d.log.Write(p)
}

func (d *daemon) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// works reports whether the last attempt to tell the cluster succeeded.
func (d *daemon) works() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.failures) > 0 && d.failures[len(d.failures)-1] == nil
}

// run runs a Reporter until the test or stop ends it.
func (d *daemon) run(r *Reporter) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.t.Context()))
	ended := make(chan error, 1)
	d.reporter = r
	go func() { ended <- r.Run(ctx) }()
	d.end = sync.OnceFunc(func() {
		cancel()
		assert.NoError(d.t, <-ended)
	})
	d.t.Cleanup(d.end)
}

// started returns a daemon whose cluster is a shelf.
func started(t *testing.T, s *shelf, verdicts ...record.DriveVerdict) *daemon {
	d := &daemon{t: t, node: "storage-1"}
	d.says(verdicts...)
	d.run(newReporter(d.options(nil), s))
	return d
}

// pass lets time pass.
func pass(t *testing.T, by time.Duration) {
	schedule.Pause(t.Context(), by)
	synctest.Wait()
}

const (
	fine, watch, degraded, severe, unknown = record.Healthy, record.Watch, record.Degraded, record.Severe, record.Unjudged
	soon                                   = look + time.Second
)

func TestConditionFollowsTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine, watch)
		pass(t, soon)
		c := s.look("storage-1").condition()
		require.NotNil(t, c)
		assert.Equal(t, []string{isFalse, NoSlowDrive, "healthy: 2 drives on storage-1; 1 on watch"}, []string{c.Status, c.Reason, c.Message})
		since := c.LastTransitionTime
		assert.Equal(t, c.LastHeartbeatTime, since)

		for range 60 { // ten hours
			pass(t, 10*time.Minute)
			c = s.look("storage-1").condition()
			assert.Equal(t, since, c.LastTransitionTime)
			assert.Less(t, time.Since(c.LastHeartbeatTime.Time), 5*time.Minute)
		}
		assert.Less(t, s.version, 2+10*60/4, "it is written by the heartbeat alone")

		for _, step := range []struct {
			verdicts       []record.DriveVerdict
			status, reason string
			transition     bool
		}{
			{[]record.DriveVerdict{fine, degraded}, isTrue, DriveDegraded, true},
			{[]record.DriveVerdict{severe, degraded}, isTrue, DriveSevere, false},
			{[]record.DriveVerdict{fine, unknown}, isUnknown, NotJudged, true},
			{[]record.DriveVerdict{fine, fine}, isFalse, NoSlowDrive, true},
		} {
			before := s.look("storage-1").condition()
			d.says(step.verdicts...)
			pass(t, soon)
			c := s.look("storage-1").condition()
			assert.Equal(t, []string{step.status, step.reason}, []string{c.Status, c.Reason})
			assert.Equal(t, check.Text.Line(check.Of(d.snapshot, nil)), c.Message, "the words of ssdprobe check")
			assert.Equal(t, step.transition, !c.LastTransitionTime.Equal(&before.LastTransitionTime), step.reason)
			assert.Less(t, time.Since(c.LastHeartbeatTime.Time), soon)
		}
		assert.Len(t, s.look("storage-1").Status.Conditions, 2, "that of others is there still")

		d.end()
		c = s.look("storage-1").condition()
		assert.Equal(t, []string{isUnknown, DaemonStopped, "ssdprobe was stopped on this node"}, []string{c.Status, c.Reason, c.Message})
		assert.Empty(t, strings.Join(strings.Fields(d.logged()), " "), "all went well")
	})
}

// A daemon that has just started does not know all of its drives yet.
func TestNothingIsToldBeforeDrivesAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := &daemon{t: t, node: "storage-1", told: map[string]record.ToldVerdict{"eui.nvme0n1": {Name: "nvme0n1", Verdict: degraded}}}
		d.says()
		d.change(func(s *record.Snapshot) { s.NotReady = "devices are being looked for" })
		d.run(newReporter(d.options(nil), s))
		pass(t, time.Hour)
		assert.Nil(t, s.look("storage-1").condition())
		d.end()
		assert.Nil(t, s.look("storage-1").condition(), "it has said nothing that is to be taken back")
		assert.Empty(t, s.events)
	})
}

// notes returns the notes of the events.
func notes(s *shelf) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		all = append(all, e.Type+" "+e.Reason+": "+e.Note)
	}
	return all
}

func TestEventsWhenAVerdictBeginsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine, fine)
		pass(t, soon)
		assert.Empty(t, notes(s))

		d.says(fine, degraded)
		pass(t, time.Hour)
		began := "2000-01-01 00:00:11 UTC"
		want := []string{"Warning DriveDegraded: nvme1n1 is degraded: 31 % slower (27 to 36 %) than before, since " + began + ", by its probes"}
		assert.Equal(t, want, notes(s), "once")
		assert.Equal(t, reference{"v1", "Node", "storage-1", "uid-of-storage-1"}, s.events[0].Regarding)

		// A daemon that is restarted knows what it has told.
		d.end()
		again := &daemon{t: t, node: "storage-1", told: maps.Clone(d.told), snapshot: d.snapshot}
		again.run(newReporter(again.options(nil), s))
		pass(t, time.Hour)
		assert.Equal(t, want, notes(s))
		again.end()

		// A daemon that has lost its state creates the same event, which already exists.
		lost := &daemon{t: t, node: "storage-1", snapshot: d.snapshot}
		lost.run(newReporter(lost.options(nil), s))
		pass(t, time.Hour)
		assert.Equal(t, want, notes(s))

		lost.says(fine, unknown)
		pass(t, soon)
		assert.Equal(t, want, notes(s), "what is not judged has not ended")
		lost.says(fine, watch)
		pass(t, soon)
		want = append(want, "Normal DriveRecovered: nvme1n1 is watch again; it was degraded since "+began)
		assert.Equal(t, want, notes(s))
		lost.says(severe)
		lost.change(func(s *record.Snapshot) {
			s.Host = &record.Judgement{Verdict: severe, Scope: record.ScopeHost, Since: time.Now()}
		})
		pass(t, soon)
		require.Len(t, notes(s), 4)
		assert.Contains(t, notes(s)[2], "Warning DriveSevere: the host is severe: since ")
		assert.Contains(t, notes(s)[3], "Warning DriveSevere: nvme0n1 is severe: 2.3 times slower")
		lost.says()
		pass(t, soon)
		require.Len(t, notes(s), 5, "of the host nothing is known")
		assert.Contains(t, notes(s)[4], "Normal DriveGone: nvme0n1 is no longer watched; it was severe since ")
	})
}

// A verdict that gets worse and eases repeatedly in one episode is reported each time.
func TestEachChangeOfAnEpisodeIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := &daemon{t: t, node: "storage-1"}
		began := time.Now()
		judge := func(v record.DriveVerdict) {
			d.change(func(s *record.Snapshot) {
				*s = record.Snapshot{Time: time.Now(), Node: d.node, Targets: []record.TargetStatus{target("nvme0n1", v, began)}}
			})
		}
		judge(degraded)
		d.run(newReporter(d.options(nil), s))
		want := []string{DriveDegraded}
		pass(t, soon)
		for range 2 {
			judge(severe)
			pass(t, soon)
			// A restarted daemon knows how often it was told.
			d.end()
			d.run(newReporter(d.options(nil), s))
			judge(degraded)
			pass(t, soon)
			want = append(want, DriveSevere, DriveDegraded)
		}
		judge(fine)
		pass(t, soon)
		want = append(want, DriveRecovered)
		var reasons []string
		for _, e := range s.events {
			reasons = append(reasons, e.Reason)
		}
		assert.Equal(t, want, reasons)
		assert.Empty(t, d.told)
	})
}

func TestALongNoteIsCut(t *testing.T) {
	assert.Equal(t, "short", cut("short"))
	long := cut(strings.Repeat("ü", 1000))
	assert.Less(t, len(long), longestNote+1)
	assert.True(t, strings.HasSuffix(long, "ü…"))
}

// The API server is down for an hour. When it is back, it is told what is true then.
func TestAnHourWithoutTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine)
		pass(t, soon)
		s.set(func(s *shelf) { s.down = true })
		d.says(severe)
		pass(t, time.Hour)
		assert.False(t, d.works())
		assert.Equal(t, 1, strings.Count(d.logged(), "\n"), "one message: %s", d.logged())
		assert.Contains(t, d.logged(), `level=WARN msg="cannot report the drives of this node to Kubernetes" err="get node storage-1: connection refused"`)
		assert.Less(t, len(d.failures), 3*60, "it does not hammer at it")
		assert.Equal(t, isFalse, s.look("storage-1").condition().Status)

		s.set(func(s *shelf) { s.down = false })
		pass(t, 2*time.Minute)
		assert.True(t, d.works())
		assert.Contains(t, d.logged(), `msg="the drives of this node are reported to Kubernetes again"`)
		assert.Equal(t, isTrue, s.look("storage-1").condition().Status)
		assert.Len(t, notes(s), 1)
	})
}

func TestALostAnswerIsNoRival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine)
		pass(t, soon)
		s.set(func(s *shelf) { s.loses = 1 })
		d.says(severe)
		pass(t, 2*time.Minute)
		assert.True(t, d.works())
		s.set(func(s *shelf) { s.loses = 2 }) // the answers for the condition and the event
		d.says(fine)
		pass(t, 5*time.Minute)
		assert.True(t, d.works())
		assert.Len(t, notes(s), 2)
		assert.NotContains(t, d.logged(), "another program")
	})
}

// A condition that was written without an answer still counts as this daemon's after the next attempt has
// failed.
func TestALostAnswerAndAFailureAreNoRival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine)
		pass(t, soon)
		s.set(func(s *shelf) { s.loses = 1 })
		d.says(severe)
		pass(t, soon)
		require.Equal(t, isTrue, s.look("storage-1").condition().Status)
		require.False(t, d.works())
		s.set(func(s *shelf) { s.denies = apierrors.NewInternalError(errDown) })
		d.says(degraded)
		pass(t, 2*time.Minute)
		assert.NotContains(t, d.logged(), "another program")
		s.set(func(s *shelf) { s.denies = nil })
		pass(t, 2*time.Minute)
		assert.True(t, d.works(), d.logged())
		assert.Equal(t, DriveDegraded, s.look("storage-1").condition().Reason)
	})
}

func TestAConflictIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		d := started(t, s, fine)
		s.set(func(s *shelf) {
			s.meanwhile = func(s *shelf) { // the kubelet
				n := s.copy("storage-1")
				n.Status.Conditions[0].Status = isFalse
				s.keep(n)
			}
		})
		pass(t, soon)
		n := s.look("storage-1")
		assert.Equal(t, isFalse, n.Status.Conditions[0].Status, "what the kubelet wrote stays")
		require.NotNil(t, n.condition())
		assert.True(t, d.works())
		assert.Empty(t, d.logged())
	})
}

func TestAMissingRightIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		s.denies = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes/status"}, "storage-1", errors.New("the account cannot patch it"))
		d := started(t, s, fine)
		pass(t, time.Hour)
		assert.False(t, d.works())
		assert.Equal(t, 1, strings.Count(d.logged(), "\n"), d.logged())
		assert.Contains(t, d.logged(), "the service account of the pods lacks a permission; apply the manifests again")
		assert.Contains(t, d.logged(), `nodes/status \"storage-1\" is forbidden: the account cannot patch it`)
	})
}

func TestANodeThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := started(t, newShelf("storage-1.example"), fine)
		pass(t, time.Minute)
		assert.Contains(t, d.logged(), "set node in the configuration to the name that kubectl get nodes shows")
	})
}

// If two daemons claim one node, the later one prevails and the other one reports it.
func TestTwoDaemonsClaimOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		first := started(t, s, fine)
		pass(t, 3*time.Minute+soon)
		second := started(t, s, degraded)
		for range 12 {
			pass(t, 5*time.Minute)
			assert.Equal(t, isTrue, s.look("storage-1").condition().Status)
		}
		assert.True(t, second.works())
		assert.Empty(t, second.logged())
		assert.False(t, first.works())
		assert.Equal(t, 1, strings.Count(first.logged(), "\n"), first.logged())
		assert.Contains(t, first.logged(), `another program sets the condition SlowDrive of this node: it says \"degraded: nvme0n1 is degraded: `)

		second.end()
		pass(t, time.Minute)
		assert.Equal(t, isFalse, s.look("storage-1").condition().Status, "the first is alone again")
		assert.True(t, first.works())

		third := started(t, s, degraded)
		pass(t, soon)
		first.end()
		assert.Equal(t, isTrue, s.look("storage-1").condition().Status, "the end of one that is not heard changes nothing")
		third.end()
		assert.Equal(t, DaemonStopped, s.look("storage-1").condition().Reason)
	})
}

// A daemon that was killed writes nothing any more.
func TestTheConditionOfADaemonThatWasKilledIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("storage-1")
		first := started(t, s, fine)
		pass(t, soon)
		killed := newReporter((&daemon{t: t, node: "storage-1"}).options(nil), s)
		c := condition{Type: ConditionType, Status: isTrue, Reason: DriveSevere, Message: "severe"}
		_, err := killed.setCondition(t.Context(), s.look("storage-1"), c)
		require.NoError(t, err)
		pass(t, 5*time.Minute)
		assert.Equal(t, isTrue, s.look("storage-1").condition().Status)
		assert.False(t, first.works())
		pass(t, rivalSilence+time.Minute)
		assert.Equal(t, isFalse, s.look("storage-1").condition().Status)
		assert.True(t, first.works())
	})
}
