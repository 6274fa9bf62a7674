package judge_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// follow runs a site through the judge: its traffic, and those of its rounds that were not refused.
func follow(t *testing.T, s drifttest.Site) *judge.Node {
	t.Helper()
	n := judge.NewNode(drift.Default())
	scenario := s.Scenario()
	for _, d := range scenario.Drives {
		n.AddDrive(judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes})
	}
	for i, x := range scenario.Samples {
		n.Advance(x.Time)
		id, o := scenario.Drives[i].ID, x.Others
		work := drift.Work{Known: true, Reads: o.Reads, Writes: o.Writes, ReadBytes: o.ReadBytes, WrittenBytes: o.WriteBytes}
		n.Traffic(id, judge.Sample{Time: x.Time, Work: work, Utilisation: x.Utilisation, Read: o.ReadLatency, Write: o.WriteLatency}, x.Conditions)
		if !x.Refused() {
			n.Round(id, "read-4k", drift.Round{Time: x.Time, Values: x.Values, Utilisation: x.Utilisation, Work: work}, x.Conditions)
		}
	}
	return n
}

func verdictOf(t *testing.T, n *judge.Node, id string) record.Judgement {
	t.Helper()
	v, ok := n.Verdict(id)
	require.True(t, ok)
	return v
}

// A drive whose rounds are all refused is found by its traffic if it was slow from the first day on.
func TestTrafficHasALevelBesideThatOfPeers(t *testing.T) {
	for _, slower := range []float64{1.4, 2} {
		n := follow(t, drifttest.Site{Noise: "trace", Seed: 11, Drives: 6, Days: 0.3, Load: 0.2, Unprobed: true, Slower: slower, Born: true})
		v := verdictOf(t, n, "d05")
		assert.Equal(t, record.Degraded, v.Verdict, "%g times slower", slower)
		assert.Equal(t, []string{"traffic"}, v.Witnesses)
		assert.Positive(t, v.Peers)
		assert.InEpsilon(t, slower, v.Ratio.Ratio, 0.25)
		for _, id := range []string{"d00", "d01", "d02", "d03", "d04"} {
			assert.Contains(t, notSlow(), verdictOf(t, n, id).Verdict, id)
		}
	}
}

// notSlow returns the verdicts that blame nobody. In the first hours there may be no verdict yet.
func notSlow() []record.DriveVerdict {
	return []record.DriveVerdict{record.Unjudged, record.Healthy, record.Watch}
}

func TestTrafficOfAnotherRoleHasNoCommonLevel(t *testing.T) {
	n := follow(t, drifttest.Site{Noise: "calm", Seed: 11, Drives: 6, Days: 0.3, Load: 0.2, Unprobed: true, Role: true})
	assert.Contains(t, notSlow(), verdictOf(t, n, "d00").Verdict, "its requests are larger")
}

// Traffic that is slow while the probes are as fast as those of the peers is only a suspicion.
func TestProbesContradictTheLevelOfTraffic(t *testing.T) {
	m := newMachine(t, 5)
	m.felt = map[string]float64{"d04": 2}
	m.run(6*time.Hour, steady)
	v := m.verdict("d04")
	assert.Equal(t, record.Watch, v.Verdict)
	assert.InDelta(t, 2, v.Ratio.Ratio, 0.1)
	m.silent["d04"] = true
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d04").Verdict, "nothing contradicts any more")
}

// Users leave a drive that its traffic showed to be slow, and its probe goes on. Why that is not compared has nothing to do with
// what is learned of the past. After a day, where the drive stood is no news, as after a restart.
func TestALevelOfTrafficThatHasGone(t *testing.T) {
	m := newMachine(t, 5)
	m.minute = start
	m.felt = map[string]float64{"d04": 2}
	m.run(6*time.Hour, steady)
	ofReads := func() record.Beside { return m.node.Beside("d04")[3] }
	require.True(t, ofReads().Far)
	m.idle = true
	m.run(3*time.Hour, steady)
	assert.True(t, ofReads().Far)
	v := m.verdict("d04")
	require.NotNil(t, v.Unjudged)
	assert.Equal(t, record.ReasonNoRounds, v.Unjudged.Reason)
	m.run(22*time.Hour, steady)
	assert.False(t, ofReads().Far)
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
}

// A drive that its probe showed to be slow is too busy for rounds for days, maybe because it is slow. Its traffic refutes nothing.
func TestALevelOfARefusedProbe(t *testing.T) {
	m := newMachine(t, 5)
	m.minute = start
	m.probed = map[string]float64{"d04": 2}
	m.run(6*time.Hour, steady)
	require.True(t, m.node.Beside("d04")[0].Far)
	m.silent = map[string]bool{"d04": true}
	m.run(30*time.Hour, steady)
	assert.True(t, m.node.Beside("d04")[0].Far)
}

// A nightly backup that is not reported as load may teach a load curve that is far too steep at its end.
func TestACurveOfLoadMakesNoDriveSlow(t *testing.T) {
	n := follow(t, drifttest.Site{Noise: "backup", Seed: 12, Drives: 4, Days: 1.25, Load: 0.3, Role: true})
	for _, id := range []string{"d00", "d01", "d02", "d03"} {
		assert.Contains(t, []record.DriveVerdict{record.Healthy, record.Watch}, verdictOf(t, n, id).Verdict, id)
	}
}

// The blocks of a slow probe span several slots, and begin at different times on different drives.
func TestLevelsOfSlowProbes(t *testing.T) {
	n := judge.NewNode(drift.Default())
	slower := map[string]float64{"a": 1, "b": 1.01, "c": 0.99, "d": 1.5}
	for _, id := range []string{"a", "b", "c", "d"} {
		n.AddDrive(judge.Drive{ID: id, Model: "X"})
	}
	at := time.Unix(0, 0)
	for range 250 {
		for i, id := range []string{"a", "b", "c", "d"} {
			x := 80e-6 * slower[id]
			at := at.Add(time.Duration(i) * 2 * time.Minute)
			n.Round(id, "read-4k", drift.Round{Time: at, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, record.Conditions{})
			n.Advance(at)
		}
		at = at.Add(10 * time.Minute)
	}
	assert.Equal(t, record.Degraded, verdictOf(t, n, "d").Verdict)
	assert.Equal(t, record.Healthy, verdictOf(t, n, "a").Verdict)
}

// Of two drives nobody can say which is right, so the slower one is a finding and no verdict.
func TestTheSlowerOfTwoDrivesIsNamed(t *testing.T) {
	m := newMachine(t, 2)
	m.slower["d01"] = 1.5
	m.run(6*time.Hour, steady)
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict)
	list := m.node.Beside("d01")
	require.Len(t, list, 5, "p50, p95 and p99 of the probe, reads and writes of the traffic")
	assert.True(t, list[0].Far)
	assert.Equal(t, []string{"d00"}, list[0].Peers)
	assert.Equal(t, 2, list[0].Place)
	assert.InDelta(t, 1.5, list[0].Ratio, 0.05)
	assert.Equal(t, "too few other drives of its model and size on the node are measured", list[3].Unjudged, "traffic needs three")
	assert.Equal(t, 1, m.node.Beside("d00")[0].Place)
	assert.False(t, m.node.Beside("d00")[0].Far)

	alone := newMachine(t, 1)
	for _, hours := range []time.Duration{0, 6} { // little is measured at first, but more measurements change nothing
		alone.run(time.Minute+hours*time.Hour, steady)
		for _, b := range alone.node.Beside("d00") {
			assert.Equal(t, "too few other drives of its model and size on the node are measured", b.Unjudged, b.Statistic)
		}
	}
	assert.Empty(t, alone.node.Beside("no such drive"))
}

// A tail twice as long as that of the peers is only a finding, as tails depend on what else a drive does.
func TestTheTailBesideThePeers(t *testing.T) {
	n := judge.NewNode(drift.Default())
	for _, id := range []string{"a", "b", "c", "d"} {
		n.AddDrive(judge.Drive{ID: id, Model: "X"})
	}
	at := time.Unix(0, 0)
	for range 6 * 60 {
		at = at.Add(time.Minute)
		for id, tail := range map[string]float64{"a": 1.8, "b": 1.85, "c": 1.75, "d": 4.5} {
			const x = 80e-6
			n.Round(id, "read-4k", drift.Round{Time: at, Values: drift.Values{x, 1.3 * x, tail * x, 1 / x}}, record.Conditions{Firmware: id})
		}
		n.Advance(at)
	}
	list := n.Beside("d")
	assert.False(t, list[0].Far)
	assert.True(t, list[2].Far)
	assert.Equal(t, record.LatencyP99, list[2].Statistic)
	assert.InDelta(t, 2.5, list[2].Ratio, 0.1)
	assert.Equal(t, []string{"firmware d"}, list[2].OnlyHere)
	assert.Equal(t, record.Healthy, verdictOf(t, n, "d").Verdict)
}

// farMachine returns a machine with a drive, d04, that is slower than its four peers and was found to be.
func farMachine(t *testing.T, slower float64) *machine {
	t.Helper()
	m := newMachine(t, 5)
	m.slower["d04"] = slower
	m.run(8*time.Hour, steady)
	require.True(t, m.node.Beside("d04")[0].Far)
	return m
}

func TestALevelThatIsAsThatOfThePeersAgainIsOver(t *testing.T) {
	m := farMachine(t, 1.5)
	m.slower["d04"] = 1
	m.run(3*time.Hour, steady)
	assert.False(t, m.node.Beside("d04")[0].Far)
	assert.Empty(t, record.SlowerThanPeers(m.node.Beside("d04")))
}

// Work is seldom alike, so the last comparison counts until there is another.
func TestALevelIsOverThoughPeersAreIdleSince(t *testing.T) {
	m := farMachine(t, 1.6)
	m.slower["d04"] = 0.9
	m.run(30*time.Minute, steady)
	require.True(t, m.node.Beside("d04")[0].Far, "that is not often enough")
	assert.InDelta(t, 1.6, m.verdict("d04").Ratio.Ratio, 0.1, "of when it was slower")
	m.drives = m.drives[3:]
	m.run(3*time.Hour, steady)
	assert.False(t, m.node.Beside("d04")[0].Far)
	assert.NotEqual(t, record.Degraded, m.verdict("d04").Verdict)
}

// A level that the drive's own past also showed is over when that past says so, even without peers to compare with.
func TestALevelIsOverWithWhatTheDriveItselfSaw(t *testing.T) {
	m := newMachine(t, 5)
	m.run(26*time.Hour, steady)
	m.slower["d04"] = 3
	m.run(4*time.Hour, steady)
	require.True(t, m.node.Beside("d04")[0].Far)
	m.restart()
	m.drives, m.slower["d04"] = m.drives[4:], 1 // the others are idle
	m.run(2*time.Hour, steady)
	assert.False(t, m.node.Beside("d04")[0].Far)
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
}

// A found level stands while the peers are not measured: nobody has seen that it is over.
func TestALevelStandsWhilePeersAreIdle(t *testing.T) {
	m := newMachine(t, 4)
	m.slower["d03"] = 1.6
	m.run(6*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d03").Verdict)
	m.drives = m.drives[1:] // d00 is idle
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d03").Verdict)
	assert.Equal(t, 3, m.verdict("d03").Peers)
}

// A drive that is always busy is compared with its peers at as much load: it is not slower because it is never idle.
func TestABusyDriveIsComparedAtItsLoad(t *testing.T) {
	testenv.Long(t)
	for slower, want := range map[float64]record.DriveVerdict{1: record.Healthy, 1.6: record.Degraded} {
		m := newMachine(t, 6)
		of := map[string]float64{"d05": slower}
		for range 30 * 60 {
			m.minute++
			for i, id := range m.drives {
				u := 0.1 + 0.25*(1+math.Sin(2*math.Pi*float64(m.minute)/1440)) // up to 0.6
				if id == "d05" {
					u = 0.6
				}
				noise := 1 + 0.02*float64((m.minute*7+i*5)%17-8)/8
				x := 80e-6 * max(1, of[id]) * noise / (1 - u)
				m.node.Round(id, "read-4k", drift.Round{Time: m.now(), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: u}, m.conditions)
				m.node.Advance(m.now())
			}
		}
		assert.Equal(t, want, m.verdict("d05").Verdict, "%g times slower: %+v", slower, m.verdict("d05"))
	}
}

// A drive that was slow from its first day on is busier with the same work. That is no excuse.
func TestASlowDriveIsNotExcusedByItsLoad(t *testing.T) {
	testenv.Long(t)
	for _, slower := range []float64{1.4, 3} {
		m := newMachine(t, 6)
		for range 30 * 60 {
			m.minute++
			for i, id := range m.drives {
				s := (1 + 0.02*float64((m.minute*7+i*5)%17-8)/8)
				if id == "d05" {
					s *= slower
				}
				takes := 0.4 * (1 + 0.05*math.Sin(2*math.Pi*float64(m.minute)/1440)) // of each second, on a healthy drive
				u := 1 - math.Exp(-takes*s)
				x := 80e-6 * s * (1 + 0.3*u)
				work := drift.Work{Known: true, Reads: takes / 80e-6, ReadBytes: takes / 80e-6 * 4096}
				m.node.Round(id, "read-4k", drift.Round{Time: m.now(), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: u, Work: work}, m.conditions)
				m.node.Advance(m.now())
			}
		}
		v := m.verdict("d05")
		assert.Equal(t, record.Degraded, v.Verdict, "%g times slower: %+v", slower, v)
		assert.InEpsilon(t, slower, v.Ratio.Ratio, 0.2)
	}
}

// A level that was found before the clock was set back began at the latest when it was first compared after that.
func TestALevelIsNotOfTheFuture(t *testing.T) {
	m := newMachine(t, 5)
	m.minute, m.idle, m.slower["d04"] = start, true, 1.5
	m.run(6*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d04").Verdict)
	m.minute -= 2 * 24 * 60
	m.run(time.Hour, steady)
	v := m.verdict("d04")
	assert.Equal(t, record.Degraded, v.Verdict)
	assert.False(t, v.Since.After(m.now()), v.Since)
}

// A drive does nearly twice the work of its peers, and nobody knows their utilisation. What its peers are like under more work
// explains how slow it is. A drive that is as slow with as much work as they do is found.
func TestWhatPeersAreUnderMoreWorkExplainsALevel(t *testing.T) {
	for _, hours := range []int{8, 72} { // before and after the day is over in which the baseline is learned
		n := afterHours(t, hours)
		assert.Contains(t, notSlow(), verdictOf(t, n, "d00").Verdict, "%d h: %+v", hours, n.Beside("d00"))
		assert.Equal(t, record.Degraded, verdictOf(t, n, "d01").Verdict, "%d h: %+v", hours, n.Beside("d01"))
	}
}

// afterHours returns a node of eight drives that was judged for some hours.
func afterHours(t *testing.T, hours int) *judge.Node {
	t.Helper()
	n := judge.NewNode(drift.Default())
	const drives, busiest, slow = 8, 0, 1
	for i := range drives {
		n.AddDrive(judge.Drive{ID: fmt.Sprintf("d%02d", i), Model: "X", SizeBytes: 1 << 40})
		n.Attach(fmt.Sprintf("d%02d", i), judge.Traffic, judge.NewTrafficTracker(drift.Default()))
	}
	for minute := range hours * 60 {
		now := time.Unix(int64(minute)*60, 0)
		wave := 1 + 0.45*math.Sin(float64(minute)/(24*60)*2*math.Pi)
		for i := range drives {
			writes, slower := 1000*wave*(1+0.02*float64((minute*7+i*5)%17-8)/8), 1.0
			switch i {
			case busiest:
				writes *= 1.9
			case slow:
				slower = 2.2
			}
			n.Traffic(fmt.Sprintf("d%02d", i), judge.Sample{
				Time: now, Utilisation: -1, Work: drift.Work{Known: true, Writes: writes}, Write: 100e-6 * slower / (1 - writes/3400),
			}, record.Conditions{})
		}
		n.Advance(now)
	}
	return n
}
