package judge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
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

// Both witnesses see it when a drive collects garbage. That is over after a few minutes.
func TestWitnessesHaveToAgreeForAWhile(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 2.2
	m.run(6*time.Minute, steady)
	m.slower["d00"] = 1
	m.run(20*time.Minute, steady)
	assert.False(t, m.severe("d00"))
	m.slower["d00"] = 2.2
	m.run(14*time.Minute, steady)
	assert.True(t, m.severe("d00"))
	m.slower["d00"] = 1
	m.run(3*time.Hour, steady)
	m.events = nil
	m.slower["d00"] = 5
	m.run(6*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no garbage explains that")
}

// A month shows worse spells than a day.
func TestSpellsThatPassedAreLearned(t *testing.T) {
	spells := func(slower float64) func(int) float64 {
		return func(minute int) float64 {
			if minute%197 < 15 { // never at the same time of day
				return slower
			}
			return 1
		}
	}
	m := newMachine(t, 1)
	m.run(36*time.Hour, spells(1.3))
	m.run(2*day, spells(1.75)) // too little for severe
	require.False(t, m.severe("d00"))
	m.run(day, spells(1.95))
	assert.False(t, m.severe("d00"), "it has had such spells")
	m.slower["d00"] = 2.2
	m.run(80*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no spell lasts that long")
}

// A drive that is slow has its spells on top of that.
func TestASlowDriveHasItsSpellsOnTop(t *testing.T) {
	m := newMachine(t, 1)
	spells := func(minute int) float64 {
		if minute%197 < 15 {
			return 1.7
		}
		return 1
	}
	m.run(36*time.Hour, steady)
	m.run(36*time.Hour+30*time.Minute, spells)
	m.slower["d00"] = 1.3
	m.run(2*day, spells)
	assert.False(t, m.severe("d00"))
	m.slower["d00"] = 5
	m.run(15*time.Minute, steady)
	assert.True(t, m.severe("d00"), "no spell explains that: %+v", m.verdict("d00"))
}

// All drives of a new node have their first night. What a job does to them then is known to nobody.
func TestANightlyJobIsNotSevereBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	require.Equal(t, record.Unjudged, m.node.Host().Verdict)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.2
	}
	m.run(time.Hour, steady)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"))
}

// A drive that is severe stays so when others of its model get slow, too.
func TestABatchDoesNotExcuseASevereDriveBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	m.slower["d00"] = 2.4
	m.run(30*time.Minute, steady)
	require.Equal(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
	m.slower["d01"], m.slower["d02"] = 2.4, 2.4
	m.run(20*time.Minute, steady)
	assert.Equal(t, record.ScopeBatch, m.verdict("d00").Scope)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
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

// A drive that collects garbage for a quarter of each hour is noisy: either witness alone would take half an hour to
// be sure.
func TestWitnessesThatAgreeNeedLess(t *testing.T) {
	m := newMachine(t, 1)
	collecting := func(minute int) float64 {
		if minute%60 < 15 {
			return 1.5
		}
		return 1
	}
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

// A drive that is 1.3 times slower, and collects garbage as it always did, has twice its latency at those times.
func TestASlowDriveIsNotSevereWhenItWavers(t *testing.T) {
	m := newMachine(t, 1)
	collecting := func(minute int) float64 {
		if minute%60 < 15 {
			return 1.5
		}
		return 1
	}
	m.run(36*time.Hour+20*time.Minute, collecting)
	m.slower["d00"] = 1.3
	m.run(12*time.Hour, collecting)
	require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
	assert.False(t, m.severe("d00"))
}

// backup makes the host slower from midnight to two.
func backup(minute int) float64 {
	if minute%1440 < 120 {
		return 1.6
	}
	return 1
}

func TestRoundsThatAreRefusedEveryNight(t *testing.T) {
	for _, drives := range []int{1, 6} {
		m := newMachine(t, drives)
		for range 4 {
			for _, id := range m.drives {
				m.silent[id] = true
			}
			m.run(2*time.Hour, backup)
			m.silent = map[string]bool{}
			m.run(22*time.Hour, backup)
		}
		m.events = nil
		for _, id := range m.drives[1:] {
			m.silent[id] = true
		}
		m.run(2*time.Hour, backup)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
		for _, e := range m.events {
			assert.False(t, e.Verdict.Blames(), "%d drives: %s %s %.2f", drives, e.Drive, e.Verdict, e.Ratio.Ratio)
		}
	}
}

func TestAHostIsNoBatchOfThoseThatAreProbed(t *testing.T) {
	m := newMachine(t, 8)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[4:] {
		m.silent[id] = true // too busy for rounds, since the host is slow
	}
	m.run(50*time.Minute, func(int) float64 { return 1.7 })
	var probes []record.Together
	for _, x := range m.node.Together() {
		if x.Source != judge.Traffic {
			probes = append(probes, x)
		}
	}
	require.NotEmpty(t, probes)
	assert.Equal(t, record.ScopeHost, probes[0].Scope)
}

// One cause slows drives unequally: all of them moved, so that the host is slow and they are no batch.
func TestAHostSlowsItsDrivesUnequally(t *testing.T) {
	m := newMachine(t, 4)
	m.run(36*time.Hour, steady)
	for i, id := range m.drives {
		m.slower[id] = []float64{2.3, 2.2, 2.2, 1.3}[i]
	}
	m.run(50*time.Minute, steady)
	together := m.node.Together()
	require.NotEmpty(t, together)
	for _, x := range together {
		assert.Equal(t, record.ScopeHost, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
	}
}

// A few drives do not get slower. If they are of the same model as the others, the host is slow. If one is of another model, or
// if there are few drives, the others are a batch.
func TestABatchIsOfOneModel(t *testing.T) {
	for _, c := range []struct {
		slow, same, other int
		scope             record.Scope
	}{{12, 2, 0, record.ScopeHost}, {12, 0, 2, record.ScopeBatch}, {12, 1, 1, record.ScopeBatch}, {4, 1, 0, record.ScopeBatch}} {
		m := newMachine(t, c.slow+c.same)
		for i := range c.other {
			id := fmt.Sprintf("e%d", i)
			m.drives, m.slower[id] = append(m.drives, id), 1
			m.node.AddDrive(judge.Drive{ID: id, Model: "Y", SizeBytes: 1 << 40})
		}
		m.run(36*time.Hour, steady)
		for _, id := range m.drives[:c.slow] {
			m.slower[id] = 1.4
		}
		m.run(50*time.Minute, steady)
		together := m.node.Together()
		require.NotEmpty(t, together)
		for _, x := range together {
			assert.Len(t, x.Drives, c.slow)
			assert.Equal(t, c.scope, x.Scope, "%+v: %s %s", c, x.Source, x.Statistic)
		}
	}
}

// garbage runs a machine in which the probes of one drive are slower for ten minutes of each half hour.
func (m *machine) garbage(d time.Duration, id string, slower float64, visit func()) {
	for range int(d / time.Minute) {
		m.probed = map[string]float64{}
		if (m.minute+1)%30 < 10 {
			m.probed[id] = slower
		}
		m.run(time.Minute, steady)
		visit()
	}
}

func TestABatchIsNoHostWhileAnotherDriveCollectsGarbage(t *testing.T) {
	m := newMachine(t, 4)
	m.garbage(36*time.Hour, "d03", 1.25, func() {})
	for _, id := range m.drives[:3] {
		m.slower[id] = 2
	}
	found := 0
	m.garbage(2*time.Hour, "d03", 1.25, func() {
		for _, x := range m.node.Together() {
			found++
			assert.Equal(t, record.ScopeBatch, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
		}
	})
	assert.Positive(t, found)
}

// What the probes do all the time is no sign that the drive makes its users slow.
func TestGarbageDoesNotBlameADriveForItsTraffic(t *testing.T) {
	m := newMachine(t, 2)
	m.garbage(36*time.Hour, "d00", 1.7, func() {})
	m.felt = map[string]float64{"d00": 1.5}
	m.garbage(3*time.Hour, "d00", 1.7, func() {
		assert.False(t, m.verdict("d00").Verdict.Blames(), "%+v", m.verdict("d00"))
	})
}

func TestADriveThatIsProbedAloneIsNotBlamedForItsHost(t *testing.T) {
	m := newMachine(t, 4)
	m.run(36*time.Hour, steady)
	for _, id := range m.drives[1:] {
		m.silent[id] = true // too busy for rounds, since the host is slow
	}
	m.events = nil
	m.run(3*time.Hour, func(int) float64 { return 1.3 })
	for _, e := range m.events {
		assert.False(t, e.Drive != "" && e.Verdict.Blames(), "%s %s %.2f", e.Drive, e.Verdict, e.Ratio.Ratio)
	}
}

func TestABatchDuringABackupIsNoHost(t *testing.T) {
	m := newMachine(t, 10)
	m.run(4*day+10*time.Minute, backup)
	for _, id := range m.drives[:6] {
		m.slower[id] = 1.4
	}
	m.run(40*time.Minute, backup)
	together := m.node.Together()
	require.NotEmpty(t, together)
	for _, x := range together {
		assert.Equal(t, record.ScopeBatch, x.Scope, "%s %s: %v", x.Source, x.Statistic, x.Drives)
		assert.Len(t, x.Drives, 6)
	}
}

// A drive becomes slow in the hours in which its users slow its traffic every day. Its probes run then and find it:
// what the users do every day is not taken off the probes.
func TestADriveThatGetsSlowWhileItsUsersDo(t *testing.T) {
	m := newMachine(t, 4)
	m.minute = start
	job := func() map[string]float64 { return map[string]float64{"d03": 3} }
	for range 4 {
		m.felt = job()
		m.run(5*time.Hour, steady)
		m.felt = nil
		m.run(19*time.Hour, steady)
	}
	require.Equal(t, record.Healthy, m.verdict("d03").Verdict)
	m.felt = job()
	m.run(time.Hour, steady)
	m.slower["d03"] = 2.5
	m.run(30*time.Minute, steady)
	assert.True(t, m.verdict("d03").Verdict.Blames(), "%+v", m.verdict("d03"))
}

// A drive was severe twice, so the second time is held. Spells of garbage collection in that time would not be severe on
// their own, and do not prolong it.
func TestAHeldVerdictIsNotProlongedByLessThanANewOneTakes(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	for range 2 {
		m.slower["d00"] = 2.4
		m.run(40*time.Minute, steady)
		require.Equal(t, record.Severe, m.verdict("d00").Verdict)
		m.slower["d00"] = 1
		m.run(6*time.Hour, steady)
	}
	require.True(t, m.verdict("d00").Held)
	m.run(10*time.Hour, func(minute int) float64 {
		if minute%180 < 6 {
			return 2.2
		}
		return 1
	})
	assert.NotEqual(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
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

// Drives that are used in office hours only never show what their host does usually. After two days that excuses nothing.
func TestAHostThatIsNeverKnownExcusesNothing(t *testing.T) {
	m := newMachine(t, 6)
	for _, id := range m.drives {
		m.silent[id] = true
	}
	office := func(days int) {
		for range days {
			m.run(9*time.Hour, steady)
			m.minute += 15 * 60
		}
	}
	office(10)
	require.Equal(t, record.Unjudged, m.node.Host().Verdict)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.4
	}
	office(1)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// What no job does is severe also on the first day, and so is a stall.
func TestAJobExcusesNoStallsBeforeTheHostIsKnown(t *testing.T) {
	m := newMachine(t, 8)
	m.run(10*time.Hour, steady)
	for _, id := range m.drives[:3] {
		m.slower[id] = 2.2
	}
	m.slower["d01"] = 3.5
	m.run(20*time.Minute, steady)
	m.node.Stall("d02", record.Stall{Start: m.now().Add(-11 * time.Second), Length: 11 * time.Second, Cause: record.StallByDevice, InFlight: 3})
	m.run(time.Minute, steady)
	assert.False(t, m.severe("d00"))
	assert.True(t, m.severe("d01"), "%+v", m.verdict("d01"))
	assert.True(t, m.severe("d02"), "%+v", m.verdict("d02"))
}

// Three targets of one drive are no batch that its host may explain: a host is never judged by one drive.
func TestTargetsOfOneDriveAreNotExcusedByTheirHost(t *testing.T) {
	m := newMachine(t, 3)
	for _, id := range m.drives {
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40, Device: "nvme0"})
	}
	m.run(10*time.Hour, steady)
	for _, id := range m.drives {
		m.slower[id] = 2.2
	}
	m.run(30*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
}

// A spell of last year says nothing about today.
func TestSpellsAreForgotten(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 2
	m.run(25*time.Minute, steady)
	m.slower["d00"] = 1
	m.run(60*day, steady)
	m.events = nil
	m.slower["d00"] = 2.2
	m.run(14*time.Minute, steady)
	assert.True(t, m.severe("d00"), "%+v", m.verdict("d00"))
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

// A drive with known spells has to be slow for half an hour. It was for less, and is fast again.
func TestADriveThatIsFastAgainDoesNotBecomeSevere(t *testing.T) {
	for _, minutes := range []int{22, 25} {
		m := newMachine(t, 1)
		m.run(36*time.Hour, steady)
		m.slower["d00"] = 2
		m.run(10*time.Minute, steady)
		m.slower["d00"] = 1
		m.run(30*time.Hour, steady)
		m.events, m.slower["d00"] = nil, 2
		m.run(time.Duration(minutes)*time.Minute, steady)
		require.False(t, m.severe("d00"))
		m.slower["d00"] = 1
		m.run(time.Hour, steady)
		assert.False(t, m.severe("d00"), "%d minutes", minutes)
	}
}

// A fast round after a time without rounds says that the drive is fast, not that it was slow all the time.
func TestAFastRoundAfterAGapIsNoSlowness(t *testing.T) {
	for _, after := range []float64{1, 2.1} {
		m := newMachine(t, 1)
		m.run(36*time.Hour, steady)
		m.slower["d00"] = 2
		m.run(10*time.Minute, steady)
		m.slower["d00"] = 1
		m.run(30*time.Hour, steady)
		m.events, m.idle, m.slower["d00"] = nil, true, 2.1
		m.run(13*time.Minute, steady)
		m.silent["d00"] = true
		m.run(30*time.Minute, steady)
		m.silent["d00"], m.slower["d00"] = false, after
		m.run(3*time.Minute, steady)
		assert.False(t, m.severe("d00"), "it was seen for 16 minutes of 30: %+v", m.verdict("d00"))
		m.run(30*time.Minute, steady)
		assert.Equal(t, after > 1, m.severe("d00"))
	}
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
