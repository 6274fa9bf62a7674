package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// severe reports whether a drive was ever reported as severe.
func (m *machine) severe(id string) bool {
	for _, e := range m.events {
		if e.Drive == id && e.Verdict == record.Severe {
			return true
		}
	}
	return false
}

func TestOneWitnessIsNotSevereWhileAnotherSaysLess(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.probed = map[string]float64{"d00": 2.2}
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"), "the traffic is as fast as ever")
	m.probed = nil
	m.slower["d01"] = 2.2
	m.run(15*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d01").Verdict)
}

func TestOtherWorkIsNotSevere(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.work, m.busy = drift.Work{Known: true, Writes: 2000, WrittenBytes: 2000 * 262144, Reads: 500, ReadBytes: 500 * 262144}, 0.6
	m.probed = map[string]float64{"d00": 2.2}
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"), "nobody knows what such work takes")
	m.probed["d01"] = 5
	m.run(15*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d01").Verdict, "no work explains that")
}

func TestTrafficIsBelievedAtOnceWhenRoundsAreRefused(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.slower["d00"], m.silent["d00"] = 5, true
	m.run(14*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "the last good round was before it got slow")
}

// Users of the drive do something that takes longer, and rounds of the hours since show that the drive is as fast as ever.
// That its users are then too busy for rounds makes it no slower.
func TestWhatProbesRefutedStaysRefutedWhileTheyAreRefused(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.felt = map[string]float64{"d00": 2.1}
	m.run(2*time.Hour, steady)
	require.False(t, m.verdict("d00").Verdict.Blames())
	m.silent["d00"] = true
	m.run(3*time.Hour, steady)
	assert.False(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
	m.slower["d00"] = 2
	m.run(25*time.Minute, steady)
	assert.True(t, m.severe("d00"), "its users feel twice as much as when it was probed: %+v", m.verdict("d00"))
}

// A few good rounds say something for a quarter of an hour.
func TestAFewGoodRoundsDoNotRefuteForLong(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.felt = map[string]float64{"d00": 2.4}
	m.run(8*time.Minute, steady)
	m.silent["d00"] = true
	m.run(6*time.Minute, steady)
	assert.False(t, m.severe("d00"))
	m.run(30*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// What was refuted is refuted as it was then. If it grows, too little for an onset of its own, the drive may have become slower.
func TestWhatGrowsIsRefutedNoLonger(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.felt = map[string]float64{"d00": 2.1}
	m.run(2*time.Hour, steady)
	m.silent["d00"] = true
	m.run(time.Hour, steady)
	require.False(t, m.verdict("d00").Verdict.Blames())
	for range 6 {
		m.felt["d00"] += 0.15
		m.run(20*time.Minute, steady)
	}
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// A slow spell of the traffic ends with other work, which nothing is compared with. That it was slow before makes the drive no
// worse now.
func TestWhatWasSeenEarlierMakesNothingWorse(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.felt = map[string]float64{"d00": 5}
	m.run(10*time.Minute, steady)
	require.Equal(t, record.Watch, m.verdict("d00").Verdict)
	m.felt, m.silent["d00"] = nil, true
	m.work = drift.Work{Known: true, Reads: 2000, ReadBytes: 2000 * 65536}
	m.run(40*time.Minute, steady)
	assert.False(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
}

// Other work begins while a drive is slow, and is learned over the day in which the drive recovers. What the users felt before
// is over: it must not be taken off the level of the new work.
func TestARecoveryUnderOtherWorkIsSeenByTheProbes(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 5
	m.run(3*time.Hour, steady)
	m.work = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}
	m.run(3*time.Hour, steady)
	require.Equal(t, record.Severe, m.verdict("d00").Verdict)
	m.slower["d00"] = 1
	m.run(90*time.Minute, steady)
	assert.Equal(t, record.Stable, m.node.Tracker("d00", judge.Traffic).StateOf(0))
	m.run(2*day, steady)
	require.Equal(t, record.Final, m.node.Tracker("d00", judge.Traffic).Maturity())
	m.events, m.silent["d00"] = nil, true
	m.run(2*day, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
}

// Other work often slows reads or writes alone. A drive that got slower slows both.
func TestReadsAloneAreNotSevere(t *testing.T) {
	m := newMachine(t, 2)
	m.writes = true
	m.run(36*time.Hour, steady)
	m.silent["d00"], m.felt = true, map[string]float64{"d00": 2.2}
	m.run(40*time.Minute, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"), "writes take as long as ever")
	m.writes = false
	m.run(40*time.Minute, steady)
	assert.False(t, m.severe("d00"), "it may write again")
	m.run(50*time.Minute, steady)
	assert.True(t, m.severe("d00"), "what it wrote more than an hour ago says little")
	m.writes = true
	m.run(30*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "a verdict does not come and go with the writes")
	m.events, m.felt["d01"] = nil, 4
	m.silent["d01"] = true
	m.run(30*time.Minute, steady)
	assert.True(t, m.severe("d01"), "no work explains that")
}

// A round that went in before the others were refused is no sign that the drive is fine if it was slow, too.
func TestASlowRoundDoesNotContradictTheTraffic(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 5
	m.run(time.Minute, steady)
	m.silent["d00"] = true
	m.run(13*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
}

func TestADriftThatGetsFarWorseHasAnOnsetOfItsOwn(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 1.3
	m.run(12*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	m.slower["d00"] = 5
	m.run(20*time.Minute, steady)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.InDelta(t, 5, v.Ratio.Ratio, 0.3)
}

// What it was before counts, and not how slow it was when the first drift was found: that may have been noise.
func TestADriftThatGetsFarWorseIsComparedWithTheHourBefore(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 1.75
	m.run(10*time.Minute, steady)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	m.slower["d00"] = 1.4
	m.run(12*time.Hour, steady)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	m.slower["d00"], m.silent["d00"] = 2.4, true
	m.run(20*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
	assert.InDelta(t, 2.4, m.verdict("d00").Ratio.Ratio, 0.1)
}

// A drive that collects garbage for a quarter of each hour is noisy: either witness alone would take half an hour to
// be sure.
func TestWitnessesThatAgreeNeedLess(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour+20*time.Minute, collecting)
	m.slower["d00"] = 2
	m.run(15*time.Minute, collecting)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, []string{"probes", "traffic"}, v.Witnesses)
	assert.Greater(t, v.Ratio.Ratio, 1.85)
}

// The host is as unsteady as that of a shared virtual machine: levels of 40 % that stay for half an hour. Both witnesses
// see that, so that they agree on what is noise.
func TestWitnessesAgreeOnNoise(t *testing.T) {
	m := newMachine(t, 1)
	unsteady := func(minute int) float64 { return []float64{1, 1.4, 1.15, 1.3}[minute/30*7%11%4] }
	m.run(36*time.Hour, unsteady)
	m.slower["d00"] = 1.55 // or up to 2.2 times
	m.run(9*time.Minute, unsteady)
	assert.True(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
	assert.False(t, m.severe("d00"), "%+v", m.verdict("d00"))
	m.slower["d00"] = 5
	m.run(15*time.Minute, unsteady)
	assert.True(t, m.severe("d00"), "no noise explains that")
}

// The time without rounds shows nothing.
func TestTimeWithoutRoundsIsNoTimeOfSlowness(t *testing.T) {
	m := newMachine(t, 1)
	m.idle = true
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 2.4
	m.run(6*time.Minute, steady)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	m.silent["d00"] = true
	m.run(30*time.Minute, steady)
	assert.False(t, m.severe("d00"), "it was seen for six minutes: %+v", m.verdict("d00"))
	m.silent["d00"] = false
	m.run(6*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// The probes of a drive that is probed each twenty minutes say as much as those of others.
func TestRareProbesRefuteToo(t *testing.T) {
	m := newMachine(t, 1)
	m.every = 20
	m.node.Tracker("d00", "read-4k").Every(20 * time.Minute)
	m.run(10*day, steady)
	m.felt = map[string]float64{"d00": 2.4}
	m.run(2*time.Hour, steady) // a block takes an hour
	for range 24 * 60 {
		m.run(time.Minute, steady)
		require.False(t, m.verdict("d00").Verdict.Blames(), "its probes are as fast as ever: %+v", m.verdict("d00"))
	}
}

// The last rounds of the probes were in a slow spell. Since then, all were refused. What the users feel the day after has one
// witness.
func TestRoundsOfYesterdayAreNoWitness(t *testing.T) {
	m := newMachine(t, 2)
	m.writes = true
	m.run(36*time.Hour, steady)
	m.probed = map[string]float64{"d00": 2.3}
	m.run(12*time.Minute, steady)
	m.silent["d00"] = true
	m.run(16*time.Hour, steady)
	require.Equal(t, record.Regressed, m.node.Tracker("d00", "read-4k").StateOf(0))
	require.False(t, m.severe("d00"))
	m.felt = map[string]float64{"d00": 2.1}
	m.run(40*time.Minute, steady)
	assert.False(t, m.severe("d00"), "reads alone are not enough: %+v", m.verdict("d00"))
}

// A tail is slow for some minutes, and then there are no rounds.
func TestATailHasToBeSeenForAnHour(t *testing.T) {
	m := newMachine(t, 1)
	m.idle = true
	m.run(2*day, steady)
	m.tail = 6
	for range 20 {
		if m.run(time.Minute, steady); m.node.Tracker("d00", "read-4k").StateOf(2) == record.Regressed {
			break
		}
	}
	require.Equal(t, record.Regressed, m.node.Tracker("d00", "read-4k").StateOf(2))
	m.silent["d00"] = true
	m.run(3*time.Hour, steady)
	assert.False(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
	m.silent["d00"] = false
	m.run(80*time.Minute, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
}

// The users of a drive did nothing since it was slow. One of its probes is fast, and another is still slow.
func TestAFastProbeDoesNotEndWhatAnotherStillSees(t *testing.T) {
	m := newMachine(t, 1)
	m.writes = true
	second := 1.0
	run := func(d time.Duration) {
		for range int(d / time.Minute) {
			m.run(time.Minute, steady)
			x := 40e-6 * second * (1 + 0.02*float64((m.minute*7+3)%17-8)/8)
			m.node.Round("d00", "write-4k", drift.Round{Time: m.now(), Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Work: m.work}, m.conditions)
		}
	}
	run(36 * time.Hour)
	second, m.felt = 3, map[string]float64{"d00": 3}
	run(2 * time.Hour)
	m.idle = true
	run(2 * time.Hour)
	assert.Equal(t, record.Regressed, m.node.Tracker("d00", judge.Traffic).StateOf(0))
	second = 1
	run(70 * time.Minute)
	assert.Equal(t, record.Stable, m.node.Tracker("d00", judge.Traffic).StateOf(0))
}

// The first day was a slow one, so twice as slow as yesterday is less than twice as slow as the baseline.
func TestTwiceAsSlowAsYesterdayIsSevere(t *testing.T) {
	for slower, severe := range map[float64]bool{2: true, 1.7: false} {
		for _, idle := range []bool{false, true} {
			m := newMachine(t, 1)
			m.idle = idle
			m.run(36*time.Hour, steady)
			m.slower["d00"] = 0.87
			m.run(12*time.Hour, steady)
			require.Equal(t, record.Healthy, m.verdict("d00").Verdict)
			m.slower["d00"] = slower * 0.87
			m.run(15*time.Minute, steady)
			assert.Equal(t, severe, m.severe("d00"), "%g times slower, idle: %v: %+v", slower, idle, m.verdict("d00"))
			m.run(12*time.Hour, steady)
			assert.Equal(t, severe, m.verdict("d00").Verdict == record.Severe, "%g times slower, idle: %v: %+v", slower, idle, m.verdict("d00"))
		}
	}
}

// A drive with idle users collects garbage for a quarter of each hour. Its interval is wide, but its last blocks are clearly
// above all that it ever did.
func TestOneWitnessOfANoisyDriveNeedsNoInterval(t *testing.T) {
	m := newMachine(t, 1)
	m.idle = true
	m.run(36*time.Hour+20*time.Minute, collecting)
	m.slower["d00"] = 2.1
	m.run(15*time.Minute, collecting)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
	m.slower["d00"] = 1.3
	m.events = nil
	m.run(12*time.Hour, collecting)
	m.events = nil
	m.run(12*time.Hour, collecting)
	assert.False(t, m.severe("d00"), "1.3 times and a spell are 1.95 times")
}

// Ten minutes are enough if no noise explains it. They need not end with a block.
func TestFarBeyondDoubtIsSevereAfterTenMinutes(t *testing.T) {
	for wait := range 5 {
		m := newMachine(t, 1)
		m.idle = true
		m.run(36*time.Hour+time.Duration(wait)*time.Minute, steady)
		m.slower["d00"] = 10
		m.run(8*time.Minute, steady)
		require.False(t, m.severe("d00"))
		m.run(3*time.Minute, steady)
		assert.True(t, m.severe("d00"), "%d min after a block began: %+v", wait, m.verdict("d00"))
	}
}

// A noisy drive is beyond doubt when it gets slow, and its interval takes hours to say so, too. What stands stays meanwhile.
func TestSevereDoesNotFlapWhileADriveIsTwiceAsSlow(t *testing.T) {
	testenv.Long(t)
	for seed := range uint64(20) {
		m := newMachine(t, 1)
		m.idle = true
		rng, long := rand.New(rand.NewPCG(seed, 3)), 0.0
		noisy := func(int) float64 {
			long = 0.985*long + 0.02*rng.NormFloat64()
			return math.Exp(long + 0.03*rng.NormFloat64())
		}
		m.run(3*day, noisy)
		m.events, m.slower["d00"] = nil, 2.1
		m.run(6*time.Hour, noisy)
		times := 0
		for i, e := range m.events {
			if e.Verdict == record.Severe && (i == 0 || m.events[i-1].Verdict != record.Severe) {
				times++
			}
		}
		assert.LessOrEqual(t, times, 1, "seed %d", seed)
	}
}

// What a drive did long before says nothing, and what it was before it got slow still counts after it got worse for a while.
func TestTheLevelBeforeIsThatOfTheHoursBefore(t *testing.T) {
	const faster = 0.82
	for _, every := range []int{1, 15} {
		m := newMachine(t, 1)
		m.idle, m.every = true, every
		m.node.Tracker("d00", "read-4k").Every(time.Duration(every) * time.Minute)
		m.run(6*day, steady)
		m.slower["d00"] = faster
		m.run(2*day, steady)
		m.slower["d00"] = 1
		m.run(7*time.Hour, steady)
		m.slower["d00"] = 1.65
		m.run(4*time.Hour, steady)
		assert.Equal(t, record.Degraded, m.verdict("d00").Verdict, "a round each %d min: %+v", every, m.verdict("d00"))
		assert.False(t, m.severe("d00"))
	}
	m := newMachine(t, 1)
	m.idle = true
	m.run(36*time.Hour, steady)
	m.slower["d00"] = faster
	m.run(12*time.Hour, steady)
	for _, slower := range []float64{1.65, 3, 1.65} {
		m.slower["d00"] = slower
		m.run(time.Hour, steady)
		assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "%g: %+v", slower, m.verdict("d00"))
	}
}

// Where I/Os of very different sizes take turns, more of the larger ones may be all that makes the drive look twice as slow.
func TestTrafficOfMixedSizesAloneIsNotSevere(t *testing.T) {
	for larger, severe := range map[float64]bool{1: true, 4: false} {
		m := newMachine(t, 1)
		m.silent["d00"] = true
		for i := range 36 {
			m.work.ReadBytes = m.work.Reads * 16384
			if i%4 >= 2 {
				m.work.ReadBytes *= larger
			}
			m.run(time.Hour, steady)
		}
		m.slower["d00"] = 2.2
		m.run(30*time.Minute, steady)
		assert.Equal(t, severe, m.severe("d00"), "%g times larger: %+v", larger, m.verdict("d00"))
		assert.True(t, m.verdict("d00").Verdict.Blames())
		m.slower["d00"] = 5
		m.run(30*time.Minute, steady)
		assert.True(t, m.severe("d00"), "no size explains that: %+v", m.verdict("d00"))
	}
}

// A drive that does all it can does half of it when it becomes twice as slow. That is less work than it ever had, but it is as
// busy as ever, so nothing sleeps.
func TestASaturatedDriveAtHalfItsSpeedIsSevere(t *testing.T) {
	m := newMachine(t, 1)
	m.silent["d00"] = true
	m.work, m.busy = drift.Work{Known: true, Reads: 50000, ReadBytes: 50000 * 4096}, 0.95
	m.run(2*day, steady)
	m.slower["d00"] = 2
	m.work.Reads, m.work.ReadBytes = m.work.Reads/2, m.work.ReadBytes/2
	m.run(15*time.Minute, steady)
	assert.True(t, m.severe("d00"), m.verdict("d00"))
	assert.InDelta(t, 2, m.verdict("d00").Ratio.Ratio, 0.1)
}

// The machine was off for some hours. Its users are there before the first round.
func TestWhatProbesRefutedStaysRefutedAfterAGap(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.felt = map[string]float64{"d00": 2}
	m.run(12*time.Minute, steady)
	require.Equal(t, record.Watch, m.verdict("d00").Verdict)
	m.minute += 5 * 60
	m.silent["d00"] = true
	m.run(12*time.Minute, steady)
	assert.Equal(t, record.Watch, m.verdict("d00").Verdict)
	m.run(30*time.Minute, steady)
	assert.True(t, m.verdict("d00").Verdict.Blames(), "it is not probed any more: %+v", m.verdict("d00"))
}
