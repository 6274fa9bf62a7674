package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// assumed makes d00 recover an hour after other work began, while its rounds are refused. The new work is learned as if the drive
// were still as slow.
func (m *machine) assumed() {
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 5
	m.run(3*time.Hour, steady)
	m.work, m.silent["d00"] = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}, true
	m.run(time.Hour, steady)
	m.slower["d00"] = 1
	m.run(2*day, steady)
}

// The first hour of rounds shows that a drive is not as slow as was assumed.
func TestWhatWasAssumedOfOtherWorkIsCorrectedByTheProbes(t *testing.T) {
	m := newMachine(t, 2)
	m.assumed()
	require.Equal(t, record.Severe, m.verdict("d00").Verdict, "nothing has shown that it is over")
	m.silent["d00"], m.probed = false, map[string]float64{"d00": 1.1} // a little slower than before, as after an update
	m.run(2*time.Hour, steady)
	assert.Equal(t, record.Stable, m.node.Tracker("d00", judge.Traffic).StateOf(0))
	m.silent["d00"] = true
	m.run(2*day, steady)
	assert.NotEqual(t, record.Severe, m.verdict("d00").Verdict, "%+v", m.verdict("d00"))
	m.felt = map[string]float64{"d00": 3}
	m.run(time.Hour, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "its own level of the new work is known now")
}

// The other work was learned right, while the drive still was slow. Then the drive recovers while it has no traffic.
func TestALevelThatWasLearnedRightlyStays(t *testing.T) {
	m := newMachine(t, 2)
	m.run(36*time.Hour, steady)
	m.slower["d00"] = 5
	m.run(3*time.Hour, steady)
	m.work, m.silent["d00"] = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}, true
	m.run(2*day, steady)
	require.Equal(t, record.Severe, m.verdict("d00").Verdict)
	m.slower["d00"], m.silent["d00"], m.idle = 1, false, true
	m.run(3*time.Hour, steady)
	m.idle, m.silent["d00"] = false, true
	m.run(6*time.Hour, steady)
	m.felt = map[string]float64{"d00": 3}
	m.run(3*time.Hour, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
}

// A pinned level stays.
func TestAPinnedLevelIsNotCorrected(t *testing.T) {
	m := newMachine(t, 2)
	m.assumed()
	s, err := m.node.Tracker("d00", judge.Traffic).State().Pin()
	require.NoError(t, err)
	again := judge.NewTrafficTracker(drift.Default())
	require.NoError(t, again.Restore(s))
	m.node.Attach("d00", judge.Traffic, again)
	before := m.node.Tracker("d00", judge.Traffic).State().Baselines()
	m.silent["d00"] = false
	m.run(2*time.Hour, steady)
	after := m.node.Tracker("d00", judge.Traffic).State().Baselines()
	assert.Equal(t, before[len(before)-1].Values, after[len(after)-1].Values)
}

// A new kernel in between does not hide that the level was assumed.
func TestANewKernelDoesNotHideThatALevelWasAssumed(t *testing.T) {
	m := newMachine(t, 2)
	m.conditions.Kernel = "6.1"
	m.assumed()
	m.conditions.Kernel = "6.2"
	m.run(2*day, steady)
	require.Equal(t, record.Regressed, m.node.Tracker("d00", judge.Traffic).StateOf(0))
	m.silent["d00"] = false
	m.run(3*time.Hour, steady)
	assert.Equal(t, record.Stable, m.node.Tracker("d00", judge.Traffic).StateOf(0), "%+v", m.verdict("d00"))
}

// A drive that has never had traffic has no level of it that could be corrected.
func TestADriveWithoutTraffic(t *testing.T) {
	m := newMachine(t, 2)
	m.idle = true
	m.run(2*day, steady)
	m.node.Attach("d00", judge.Traffic, judge.NewTrafficTracker(drift.Default())) // as after a restart
	m.run(10*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// otherWorkUnseen gives all drives other users, who keep d00 too busy for rounds, for long enough to learn what that work takes.
func (m *machine) otherWorkUnseen(slower float64) {
	m.busy = 0.05
	m.run(36*time.Hour, steady)
	m.work, m.silent["d00"], m.busier = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}, true, map[string]float64{"d00": 0.9}
	m.run(14*time.Minute, steady)
	m.slower["d00"] = slower
	m.run(2*day, steady)
}

// A drive that gets slow with its new users is as slow as ever with them.
func TestADriveIsNotHealthyByWhatWasLearnedUnseen(t *testing.T) {
	m := newMachine(t, 2)
	m.otherWorkUnseen(2)
	require.Equal(t, record.Stable, m.node.Tracker("d00", judge.Traffic).StateOf(0))
	m.restart()
	m.run(time.Hour, steady)
	v := m.verdict("d00")
	assert.Equal(t, record.Unjudged, v.Verdict)
	require.NotNil(t, v.Unjudged)
	assert.Equal(t, record.ReasonAssumed, v.Unjudged.Reason)
	assert.WithinDuration(t, time.Unix(0, 0).Add(36*time.Hour+day), v.Unjudged.Since, 2*time.Hour, "when its traffic was learned")
	reads := m.node.Explain("d00", judge.Traffic, m.now()).Statistics[0]
	assert.Equal(t, record.Unknown, reads.State, "what the drive is not, its statistics are not either")
	assert.Equal(t, v.Unjudged, reads.Unjudged)
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict, "rounds have shown that it is as fast as before")
	m.silent["d00"], m.busier = false, nil
	m.run(45*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "its traffic does not dispute that")
	assert.Zero(t, m.node.Explain("d09", judge.Traffic, m.now()), "there is no such drive")
}

// Once rounds have shown that a drive is as fast as before, its traffic alone says that it still is.
func TestAFewBlocksOfRoundsShowThatWhatWasLearnedUnseenIsNormal(t *testing.T) {
	m := newMachine(t, 2)
	m.conditions.Kernel = "6.1"
	m.otherWorkUnseen(1)
	require.Equal(t, record.Unjudged, m.verdict("d00").Verdict)
	m.silent["d00"], m.busier["d00"] = false, 0
	m.run(20*time.Minute, steady)
	require.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m.silent["d00"], m.busier["d00"] = true, 0.9
	m.run(day, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m.conditions.Kernel = "6.2"
	m.run(day+time.Hour, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m.work = drift.Work{Known: true, Reads: 40, ReadBytes: 40 * 262144}
	m.run(2*day, steady)
	assert.Equal(t, record.Unjudged, m.verdict("d00").Verdict, "and other users again")
}

// More work has a drive busy that is as fast as ever.
func TestWorkThatExplainsHowBusyADriveIsShowsThatItIsNormal(t *testing.T) {
	for reads, want := range map[float64]record.DriveVerdict{2000: record.Unjudged, 20000: record.Healthy} {
		m := newMachine(t, 2)
		m.busy = 0.05
		m.run(36*time.Hour, steady)
		m.work, m.silent["d00"], m.busier = drift.Work{Known: true, Reads: reads, ReadBytes: reads * 16384}, true, map[string]float64{"d00": 0.9}
		m.run(2*day, steady)
		assert.Equal(t, want, m.verdict("d00").Verdict, "%.0f reads a second", reads)
	}
}

// Rounds ran for some of the day from which the new work was learned. Nothing shows that the drive was as fast as ever for the rest of
// it. If it fails then, what it did before shows that.
func TestRoundsShowWhatIsLearnedForAFewHours(t *testing.T) {
	for _, c := range []struct {
		rounds time.Duration
		slower float64
		want   record.DriveVerdict
	}{
		{22 * time.Hour, 1, record.Healthy}, {22 * time.Hour, 10, record.Severe},
		{16 * time.Hour, 1, record.Unjudged}, {16 * time.Hour, 10, record.Severe},
	} {
		m := newMachine(t, 2)
		m.busy = 0.05
		m.run(36*time.Hour, steady)
		m.work = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}
		m.run(c.rounds, steady)
		m.silent["d00"], m.busier, m.slower["d00"] = true, map[string]float64{"d00": 0.9}, c.slower
		m.run(2*day, steady)
		assert.Equal(t, c.want, m.verdict("d00").Verdict, "%.0f times slower after %v", c.slower, c.rounds)
	}
}

// A few slow rounds show nothing of the kind.
func TestSlowRoundsDoNotConfirmWhatIsLearned(t *testing.T) {
	m := newMachine(t, 2)
	m.otherWorkUnseen(1.3)
	m.silent["d00"] = false
	m.run(10*time.Minute, steady)
	m.silent["d00"] = true
	m.run(2*time.Hour, steady)
	assert.Equal(t, record.Unjudged, m.verdict("d00").Verdict)
}

// Peers with like work show that a drive is as fast as drives of its model are.
func TestPeersShowThatWhatWasLearnedUnseenIsNormal(t *testing.T) {
	m := newMachine(t, 5)
	m.otherWorkUnseen(1)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m = newMachine(t, 5)
	m.otherWorkUnseen(2)
	assert.Equal(t, record.Degraded, m.verdict("d00").Verdict, "slower than its peers")
}

// Peers that nobody has seen either confirm nothing.
func TestPeersThatNobodyHasSeenShowNothing(t *testing.T) {
	m := newMachine(t, 5)
	m.busy = 0.05
	m.run(36*time.Hour, steady)
	m.work, m.busy = drift.Work{Known: true, Reads: 400, ReadBytes: 400 * 65536}, 0.9
	for _, id := range m.drives {
		m.silent[id] = true
	}
	m.run(2*day, func(int) float64 { return 10 })
	for _, id := range m.drives {
		assert.Equal(t, record.Unjudged, m.verdict(id).Verdict, id)
	}
	host := m.node.Host()
	assert.Equal(t, record.Unjudged, host.Verdict)
	require.NotNil(t, host.Unjudged)
	assert.Equal(t, record.ReasonAssumed, host.Unjudged.Reason)
}

// A file on the same drive is probed, though the drive itself is not.
func TestAProbeOfTheSameDriveConfirmsWhatItsTrafficLearned(t *testing.T) {
	m := newMachine(t, 2)
	for _, id := range m.drives {
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40, Device: "one"})
	}
	m.otherWorkUnseen(1)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// Writes that the drive never had are learned on a later day, while its baseline stays.
func TestWritesThatWereLearnedLateAreAssumed(t *testing.T) {
	for slower, want := range map[float64]record.DriveVerdict{1: record.Healthy, 3: record.Unjudged} {
		m := newMachine(t, 2)
		m.busy = 0.05
		m.run(36*time.Hour, steady)
		m.silent["d00"], m.busier = true, map[string]float64{"d00": 0.05 * slower}
		m.work, m.onlyWrites, m.slower["d00"] = drift.Work{Known: true, Writes: 500, WrittenBytes: 500 * 16384}, true, slower
		m.run(2*day, steady)
		assert.Equal(t, want, m.verdict("d00").Verdict, "%.0f times slower", slower)
	}
}

// On its first day, a drive shows by both what is normal.
func TestRoundsMayStopWhenTheFirstDayIsOver(t *testing.T) {
	m := newMachine(t, 2)
	m.busy = 0.05
	m.run(day+3*time.Minute, steady)
	require.Equal(t, record.Final, m.node.Tracker("d00", "read-4k").Maturity())
	m.silent["d00"] = true
	m.run(day, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// Without a probe that knows the drive, its traffic is all that there is.
func TestTrafficIsAllThereIsWithoutAProbe(t *testing.T) {
	m := newMachine(t, 2)
	m.silent["d00"], m.silent["d01"] = true, true
	m.otherWorkUnseen(1)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}
