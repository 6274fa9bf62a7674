package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const day = 24 * time.Hour

// machine feeds a node a round a minute, and traffic, of some drives.
type machine struct {
	t      *testing.T
	node   *judge.Node
	drives []string
	minute int
	// slower is how many times slower than 80 µs each drive is. All drives have the same conditions, but those in changed.
	slower     map[string]float64
	conditions record.Conditions
	changed    map[string]record.Conditions
	// silent drives have no rounds, as if all were refused.
	silent map[string]bool
	// felt is how many times slower only the traffic of a drive is, and probed how many times slower only its probes
	// are.
	felt, probed map[string]float64
	// writes says that the traffic has writes, too, which felt does not slow, onlyWrites that it has nothing else, and idle that there is
	// none.
	writes, onlyWrites, idle bool
	// tail is how many times slower than usual p99 is; 0 when it is as usual.
	tail float64
	// few is how many times longer the rounds of a probe take because of few slow I/Os, which its median latency does not show; 0
	// when there are none. The reads of its users take as much longer.
	few float64
	// every is how many minutes apart the rounds of a drive are, instead of one.
	every int
	// work is what others do to each drive, and busy the utilisation that results; of a drive in busier, it is more.
	work   drift.Work
	busy   float64
	busier map[string]float64
	events []judge.Event
}

func newMachine(t *testing.T, drives int) *machine {
	t.Helper()
	m := &machine{t: t, node: judge.NewNode(drift.Default()), slower: map[string]float64{}, silent: map[string]bool{}}
	m.work = drift.Work{Known: true, Reads: 500, ReadBytes: 500 * 16384}
	for i := range drives {
		id := fmt.Sprintf("d%02d", i)
		m.drives, m.slower[id] = append(m.drives, id), 1
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
	}
	return m
}

func (m *machine) now() time.Time { return time.Unix(int64(m.minute)*60, 0) }

// run lets time pass. host is how many times slower the host makes all drives in a minute.
func (m *machine) run(d time.Duration, host func(minute int) float64) {
	for range int(d / time.Minute) {
		m.minute++
		for i, id := range m.drives {
			noise := 1 + 0.02*float64((m.minute*7+i*5)%17-8)/8
			x := 80e-6 * m.slower[id] * noise * host(m.minute)
			conditions, ok := m.changed[id]
			if !ok {
				conditions = m.conditions
			}
			busy := max(m.busy, m.busier[id])
			if p := x * max(1, m.probed[id]); !m.silent[id] && m.minute%max(1, m.every) == 0 {
				m.node.Round(id, "read-4k", drift.Round{Time: m.now(), Values: drift.Values{p, 1.3 * p, 1.8 * p * max(1, m.tail), 1 / p / max(1, m.few)}, Work: m.work, Utilisation: busy}, conditions)
			}
			traffic := judge.Sample{Time: m.now(), Work: m.work, Utilisation: busy, Read: 1.2 * x * max(1, m.felt[id], m.few)}
			if m.writes || m.onlyWrites {
				traffic.Write = 0.5 * x
			}
			if m.onlyWrites {
				traffic.Read = 0
			}
			if !m.idle {
				m.node.Traffic(id, traffic, conditions)
			}
			m.events = append(m.events, m.node.Advance(m.now())...)
		}
	}
}

func steady(int) float64 { return 1 }

func (m *machine) verdict(id string) record.Judgement {
	m.t.Helper()
	v, ok := m.node.Verdict(id)
	require.True(m.t, ok)
	return v
}

func TestADriveIsJudgedBesideItsPeers(t *testing.T) {
	m := newMachine(t, 6)
	// The host's speed goes up and down by 10 % within hours, which is more than the drive will change.
	host := func(minute int) float64 { return 1 + 0.1*float64(minute/90%2) }
	m.run(2*day, host)
	for _, id := range m.drives {
		assert.Equal(t, record.Healthy, m.verdict(id).Verdict)
	}
	m.slower["d03"] = 1.25
	m.run(time.Hour, host)
	v := m.verdict("d03")
	assert.Equal(t, record.Degraded, v.Verdict)
	assert.Equal(t, record.ScopeDrive, v.Scope)
	assert.InDelta(t, 1.25, v.Ratio.Ratio, 0.04)
	assert.ElementsMatch(t, []string{"probes", "traffic"}, v.Witnesses)
	assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
	assert.Empty(t, m.node.Together())
}

// Hosts wander by a few percent over days, which is no news.
func TestAHostIsReportedFromWhereHostsDoNotWander(t *testing.T) {
	testenv.Long(t)
	for slower, reported := range map[float64]bool{1.14: false, 1.17: true} {
		m := newMachine(t, 6)
		m.run(36*time.Hour, steady)
		m.run(3*time.Hour, func(int) float64 { return slower })
		assert.Equal(t, reported, len(m.node.Together()) > 0, "%g times slower", slower)
	}
}

func TestAHostIsBlamedForWhatItDoes(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.conditions.Kernel = "6.1"
	m.run(36*time.Hour, steady)
	m.run(40*time.Minute, func(int) float64 { return 1.2 })
	together := m.node.Together()
	require.NotEmpty(t, together)
	assert.Equal(t, record.ScopeHost, together[0].Scope)
	assert.Len(t, together[0].Drives, 6)
	assert.InDelta(t, 1.2, together[0].Ratio.Ratio, 0.03)
	for _, id := range m.drives {
		assert.Equal(t, record.Healthy, m.verdict(id).Verdict, "no drive is blamed")
	}
	// The host's present level is the new normal: a drive that gets slower than that is found.
	m.run(day, func(int) float64 { return 1.2 })
	m.slower["d01"] = 1.25
	m.run(time.Hour, func(int) float64 { return 1.2 })
	assert.Equal(t, record.Degraded, m.verdict("d01").Verdict)
	assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
}

// A host is unknown because too few drives are known, because it is being learned, or because nothing was compared
// for an hour.
func TestWhyAHostIsUnknown(t *testing.T) {
	m := newMachine(t, 3)
	why := func() record.UnjudgedReason {
		if h := m.node.Host(); h.Unjudged != nil {
			return h.Unjudged.Reason
		}
		return ""
	}
	m.run(2*time.Hour, steady)
	assert.Equal(t, record.ReasonFewDrives, why())
	m.run(2*day, steady)
	assert.Empty(t, why())
	m.node.Advance(m.now().Add(3 * time.Hour))
	assert.Equal(t, record.ReasonNoRounds, why())
}

func TestDrivesThatGetSlowTogetherAreABatch(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[:4] {
		m.slower[id] = 1.4
	}
	m.run(time.Hour, steady)
	for i, id := range m.drives {
		v := m.verdict(id)
		if i < 4 {
			assert.Equal(t, record.Degraded, v.Verdict, id)
			assert.Equal(t, record.ScopeBatch, v.Scope, id)
		} else {
			assert.Equal(t, record.Healthy, v.Verdict, id)
		}
	}
}

// A drive with three targets is one drive, and not a batch with itself.
func TestTargetsOfOneDriveAreNoBatch(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 10)
	slow := m.drives[:3]
	for _, id := range slow {
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40, Device: "A"})
	}
	m.run(36*time.Hour, steady)
	for _, id := range slow {
		m.slower[id] = 1.4
	}
	m.run(time.Hour, steady)
	for _, id := range slow {
		v := m.verdict(id)
		assert.Equal(t, record.Degraded, v.Verdict, id)
		assert.Equal(t, record.ScopeDrive, v.Scope, id)
	}
}

func TestADriveThatWasSlowFromItsFirstDay(t *testing.T) {
	m := newMachine(t, 5)
	m.slower["d04"] = 1.4
	m.run(6*time.Hour, steady)
	v := m.verdict("d04")
	assert.Equal(t, record.Degraded, v.Verdict)
	assert.Equal(t, 4, v.Peers)
	assert.InDelta(t, 1.4, v.Ratio.Ratio, 0.04)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

func TestDrivesThatAreNotAlikeHaveNoCommonLevel(t *testing.T) {
	m := newMachine(t, 5)
	m.node.AddDrive(judge.Drive{ID: "d04", Model: "X", SizeBytes: 1 << 40, Group: "networked"})
	m.slower["d04"] = 3
	m.run(6*time.Hour, steady)
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
}

// Volumes of one provider have one model, whatever their tier.
func TestDrivesOfTargets(t *testing.T) {
	drive := record.Device{ID: "eui.1", Model: "X", SizeBytes: 1 << 40, Transport: "pcie", Serial: "S", PCIAddress: "0000:01:00.0"}
	assert.Equal(t, judge.Drive{ID: "eui.1", Model: "X", SizeBytes: 1 << 40, Device: drive.Physical()}, judge.DriveOf("eui.1", drive, false))
	assert.Equal(t, judge.Drive{ID: "file:/a", Group: "file:/a", Model: "X", SizeBytes: 1 << 40, Device: drive.Physical()}, judge.DriveOf("file:/a", drive, true))
	volume := record.Device{ID: "eui.2", Model: "Amazon Elastic Block Store", Transport: "pcie"}
	assert.Equal(t, "eui.2", judge.DriveOf("eui.2", volume, false).Group)
	assert.Equal(t, "eui.3", judge.DriveOf("eui.3", record.Device{ID: "eui.3"}, false).Group)
}

// A drive that is never probed got slower with its firmware: the verdict names that.
func TestAVerdictNamesWhatChangedWithIt(t *testing.T) {
	m := newMachine(t, 8)
	m.silent["d01"], m.silent["d02"] = true, true
	m.conditions.Firmware = "A"
	m.run(36*time.Hour, steady)
	updated := m.conditions
	updated.Firmware = "B"
	m.changed = map[string]record.Conditions{"d01": updated}
	m.run(30*time.Minute, steady)
	m.slower["d01"], m.slower["d02"] = 1.5, 1.5
	m.run(2*time.Hour, steady)
	v := m.verdict("d01")
	require.True(t, v.Verdict.Blames())
	assert.Equal(t, []string{"traffic"}, v.Witnesses)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}}, v.Attribution)
	v = m.verdict("d02")
	require.True(t, v.Verdict.Blames())
	assert.Empty(t, v.Attribution, "nothing changed on this one")
	assert.Empty(t, m.verdict("d03").Attribution, "it is not slow")
}

func TestTrafficAloneIsEnough(t *testing.T) {
	m := newMachine(t, 2)
	m.silent["d01"] = true
	m.run(36*time.Hour, steady)
	m.slower["d01"] = 2
	m.run(10*time.Minute, steady)
	v := m.verdict("d01")
	assert.Equal(t, []string{"traffic"}, v.Witnesses)
	assert.Contains(t, []record.DriveVerdict{record.Degraded, record.Severe}, v.Verdict)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// What applications do for some minutes is no slow drive. No probe says so while all rounds are refused.
func TestABurstOfTrafficAloneBlamesNobody(t *testing.T) {
	m := newMachine(t, 2)
	m.silent["d01"] = true
	m.run(36*time.Hour, steady)
	for _, burst := range []struct {
		slower float64
		lasts  time.Duration
	}{{4, 5 * time.Minute}, {1.7, 15 * time.Minute}} {
		m.events = nil
		m.slower["d01"] = burst.slower
		m.run(burst.lasts, steady)
		assert.Equal(t, record.Regressed, m.node.Tracker("d01", judge.Traffic).StateOf(0), "%g times slower", burst.slower)
		m.slower["d01"] = 1
		m.run(2*time.Hour, steady)
		for _, e := range m.events {
			assert.False(t, e.Verdict.Blames(), "%g times slower for %s: %+v", burst.slower, burst.lasts, e)
		}
	}
	m.slower["d01"] = 1.5
	m.run(30*time.Minute, steady)
	assert.Equal(t, record.Degraded, m.verdict("d01").Verdict)
}

// How much slower the other rounds are says nothing about slow rounds: "0.99 times slower" would be nonsense.
func TestSlowRoundsHaveNoRatio(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.run(10*time.Hour, func(minute int) float64 {
		if minute%10 == 0 {
			return 5
		}
		return 1
	})
	v := m.verdict("d00")
	assert.Equal(t, record.Degraded, v.Verdict)
	assert.Zero(t, v.Ratio)
	assert.Equal(t, record.BySlowRounds, m.node.Tracker("d00", "read-4k").Drift()[0].Cause)

	m.run(2*day, func(minute int) float64 { // now the others are slower, too
		if minute%10 == 0 {
			return 5
		}
		return 1.45
	})
	assert.InDelta(t, 1.45, m.verdict("d00").Ratio.Ratio, 0.05)
}

func TestSevereNeedsTwoWitnessesOrTenMinutes(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 3
	m.run(5*time.Minute, steady)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.ElementsMatch(t, []string{"probes", "traffic"}, v.Witnesses)
}

func TestNothingIsKnownOfASilentDrive(t *testing.T) {
	m := newMachine(t, 1)
	m.run(day, steady)
	require.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m.minute += 90
	m.events = append(m.events, m.node.Advance(m.now())...)
	v := m.verdict("d00")
	assert.Equal(t, record.Unjudged, v.Verdict, "nothing was measured for an hour")
	require.NotNil(t, v.Unjudged)
	assert.Equal(t, record.ReasonNoRounds, v.Unjudged.Reason)
	assert.WithinDuration(t, m.now().Add(-90*time.Minute), v.Unjudged.Since, 10*time.Minute)

	m.run(15*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	assert.Nil(t, m.verdict("d00").Unjudged)
}

// Rounds that cannot be compared say no more than no rounds.
func TestADriveUnderALoadThatWasNeverSeenIsNotHealthy(t *testing.T) {
	n := judge.NewNode(drift.Default())
	n.AddDrive(judge.Drive{ID: "d00"})
	now := time.Unix(0, 0)
	run := func(d time.Duration, slower, utilisation float64) record.Judgement {
		for range int(d / time.Minute) {
			now = now.Add(time.Minute)
			x := 80e-6 * slower * (1 + 0.02*float64(now.Minute()*7%17-8)/8)
			n.Round("d00", "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: utilisation}, record.Conditions{})
			n.Advance(now)
		}
		v, _ := n.Verdict("d00")
		return v
	}
	assert.Equal(t, record.ReasonLearning, run(time.Hour, 1, 0).Unjudged.Reason)
	require.Equal(t, record.Healthy, run(30*time.Hour, 1, 0).Verdict)
	v := run(90*time.Minute, 3, 0.85)
	assert.Equal(t, record.Unjudged, v.Verdict)
	require.NotNil(t, v.Unjudged)
	assert.Equal(t, record.ReasonLoad, v.Unjudged.Reason)
}

func TestASuspicionThatNothingConfirmsIsUnknown(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.node.Advance(m.now().Add(time.Minute)) // the last block is judged, and one round is no block
	kept, err := json.Marshal(m.node.Tracker("d00", "read-4k").State())
	require.NoError(t, err)
	const stable, suspect = `"latency_p50_seconds":{"state":"stable"`, `"latency_p50_seconds":{"state":"suspect"`
	require.Contains(t, string(kept), stable)
	var suspected drift.State
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(string(kept), stable, suspect, 1)), &suspected))
	n, tracker := judge.NewNode(drift.Default()), drift.NewTracker(drift.Default())
	require.NoError(t, tracker.Restore(suspected))
	n.AddDrive(judge.Drive{ID: "d00"})
	n.Attach("d00", "read-4k", tracker)
	verdict := func(after time.Duration) record.DriveVerdict {
		n.Advance(m.now().Add(after))
		v, _ := n.Verdict("d00")
		return v.Verdict
	}
	assert.Equal(t, record.Watch, verdict(0))
	assert.Equal(t, record.Unjudged, verdict(90*time.Minute))
}

// Nobody has judged a drive that was just added: the reason is known.
func TestANewDriveSaysWhyItIsUnknown(t *testing.T) {
	n := judge.NewNode(drift.Default())
	n.AddDrive(judge.Drive{ID: "d00", Model: "X", SizeBytes: 1 << 40})
	why := func() *record.WhyUnjudged {
		v, _ := n.Verdict("d00")
		return v.Unjudged
	}
	assert.Equal(t, &record.WhyUnjudged{Reason: record.ReasonNoRounds}, why())
	n.Advance(time.Unix(60, 0))
	assert.Equal(t, &record.WhyUnjudged{Reason: record.ReasonNoRounds}, why())
}

func TestARemovedDriveIsForgotten(t *testing.T) {
	m := newMachine(t, 3)
	m.run(time.Hour, steady)
	m.node.RemoveDrive("d01")
	_, ok := m.node.Verdict("d01")
	assert.False(t, ok)
	assert.Nil(t, m.node.Tracker("d01", "read-4k"))
	m.drives = []string{"d00", "d02"}
	m.run(time.Hour, steady)
}

// A watch that replaces another brings a tracker that was restored from the other's state.
func TestAnAttachedTrackerGoesOn(t *testing.T) {
	m := newMachine(t, 4)
	m.run(36*time.Hour, steady)
	m.slower["d02"] = 1.5
	m.run(time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d02").Verdict)
	again := drift.NewTracker(drift.Default())
	require.NoError(t, again.Restore(m.node.Tracker("d02", "read-4k").State()))
	m.node.Attach("d02", "read-4k", again)
	told := len(m.events)
	m.run(time.Hour, steady)
	assert.Same(t, again, m.node.Tracker("d02", "read-4k"))
	assert.Equal(t, record.Degraded, m.verdict("d02").Verdict)
	assert.Empty(t, m.events[told:], "nothing is told again")
}

// A host that makes everything slower, tails included, does not make a drive look faster than before.
func TestASlowHostMakesNoTailFaster(t *testing.T) {
	m := newMachine(t, 5)
	m.minute = start
	m.run(30*time.Hour, steady)
	m.run(6*time.Hour, func(int) float64 { return 1.3 })
	require.NotEmpty(t, m.node.Together())
	for _, id := range m.drives {
		for _, x := range m.node.Tracker(id, "read-4k").Drift() {
			assert.Equal(t, record.Stable, x.State, "%s of %s: %g", x.Statistic, id, x.Ratio)
		}
	}
}
