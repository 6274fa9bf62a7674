package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// pair returns a machine with two drives whose baselines, and that of their host, are final.
func pair(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, 2)
	m.run(2*day, steady)
	require.Equal(t, record.Healthy, m.node.Host().Verdict)
	return m
}

func always(slower float64) func(int) float64 { return func(int) float64 { return slower } }

func TestOfTwoDrivesTheHostIsBlamedForWhatBothDo(t *testing.T) {
	m := pair(t)
	m.run(40*time.Minute, always(1.3))
	assert.Equal(t, record.Watch, m.node.Host().Verdict, "two drives may be slow at the same time by chance")
	m.run(45*time.Minute, always(1.3))
	host := m.node.Host()
	assert.Equal(t, record.Degraded, host.Verdict)
	assert.InDelta(t, 1.3, host.Ratio.Ratio, 0.05)
	for _, id := range m.drives {
		assert.Equal(t, record.Healthy, m.verdict(id).Verdict, "no drive is blamed")
	}
	require.NotEmpty(t, m.node.Together())
	assert.Equal(t, m.drives, m.node.Together()[0].Drives)
}

// Two drives wander by a little at the same time by chance. Nobody is told before that has lasted for half a day, unless conditions
// changed: then it is no chance.
func TestOfTwoDrivesALittleIsTheHostOnlyIfItLasts(t *testing.T) {
	told := func(m *machine) bool { return m.scopes()[record.ScopeHost] > 0 }
	m := pair(t)
	m.run(11*time.Hour, always(1.24))
	assert.Equal(t, record.Watch, m.node.Host().Verdict, "it is shown, and alerts nobody")
	assert.False(t, told(m))
	m.run(3*time.Hour, always(1.24))
	assert.Equal(t, record.Degraded, m.node.Host().Verdict)
	assert.True(t, told(m))
	for _, id := range m.drives {
		assert.Equal(t, record.Healthy, m.verdict(id).Verdict, "no drive is blamed")
	}

	m = newMachine(t, 2)
	m.conditions.Governor = "performance"
	m.run(2*day, steady)
	m.conditions.Governor = "powersave"
	m.run(3*time.Hour, always(1.24))
	assert.True(t, told(m), "conditions changed")

	m = newMachine(t, 3)
	m.run(2*day, steady)
	m.run(3*time.Hour, always(1.24))
	assert.True(t, told(m), "three drives are more than a pair")
}

// What was told stays told while it lasts.
func TestAHostOfTwoDrivesThatGetsALittleBetterStaysTold(t *testing.T) {
	m := pair(t)
	m.run(2*time.Hour, always(1.35))
	require.Equal(t, record.Degraded, m.node.Host().Verdict)
	m.run(3*time.Hour, always(1.24))
	assert.Equal(t, record.Degraded, m.node.Host().Verdict)
}

func TestOfTwoDrivesTheSickOneIsBlamed(t *testing.T) {
	m := pair(t)
	m.slower["d00"] = 2
	m.run(3*time.Hour, steady)
	assert.True(t, m.severe("d00"))
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict)
	assert.Equal(t, record.Stable, m.node.Tracker("d01", "read-4k").StateOf(0), "a sick drive makes the other one no faster")
	assert.Equal(t, record.Healthy, m.node.Host().Verdict)
}

// A drive that has been sick for long tells nothing about the other one.
func TestTheSickOneOfTwoDrivesExcusesNoOther(t *testing.T) {
	testenv.Long(t)
	for _, alone := range []float64{1.4, 2.4} {
		m := pair(t)
		m.slower["d00"] = alone
		m.run(6*time.Hour, steady)
		m.slower["d01"] = 1.4
		m.run(90*time.Minute, steady)
		assert.Equal(t, record.Degraded, m.verdict("d01").Verdict)
		assert.Equal(t, record.Healthy, m.node.Host().Verdict)
		m.run(day, steady)
		assert.True(t, m.verdict("d00").Verdict.Blames(), "neither is excused later")
		assert.True(t, m.verdict("d01").Verdict.Blames())
		assert.Empty(t, m.node.Together())
	}
}

func TestAHostIsBlamedBesideASickDrive(t *testing.T) {
	m := pair(t)
	m.slower["d00"] = 1.6
	m.run(6*time.Hour, steady)
	require.True(t, m.verdict("d00").Verdict.Blames())
	m.run(90*time.Minute, always(1.4))
	host := m.node.Host()
	assert.Equal(t, record.Degraded, host.Verdict)
	assert.InDelta(t, 1.4, host.Ratio.Ratio, 0.1)
	assert.False(t, m.verdict("d01").Verdict.Blames())
}

// What only one of two drives has is no change of the host.
func TestAChangeOfOneOfTwoDrivesIsNoneOfTheHost(t *testing.T) {
	for _, both := range []bool{false, true} {
		m := newMachine(t, 2)
		m.conditions.Kernel = "6.1"
		m.run(2*day, steady)
		m.changed = map[string]record.Conditions{"d00": {Kernel: "6.8"}}
		if both {
			m.changed["d01"] = m.changed["d00"]
		}
		m.run(40*time.Minute, always(1.3))
		require.NotEmpty(t, m.node.Together())
		assert.Equal(t, both, len(m.node.Together()[0].Attribution) > 0)
	}
}

// Blocks of the future, from before the clock was set back, must not make two drives ask each other for ever.
func TestTheClockIsSetBackWhileOneOfTwoDrivesIsSick(t *testing.T) {
	m := pair(t)
	m.slower["d00"] = 1.6
	m.run(4*time.Hour, steady)
	m.minute -= 3 * 60
	m.run(4*time.Hour, steady)
	assert.True(t, m.verdict("d00").Verdict.Blames())
	assert.False(t, m.verdict("d01").Verdict.Blames())
}

// add and remove change the drives of a machine.
func (m *machine) add(id string) {
	m.drives, m.slower[id] = append(m.drives, id), 1
	m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
}

func (m *machine) remove(id string) {
	m.drives = slices.DeleteFunc(m.drives, func(o string) bool { return o == id })
	m.node.RemoveDrive(id)
}

// blamed reports whether a drive is blamed at any time while time passes.
func (m *machine) blamed(d time.Duration, host func(int) float64) bool {
	blamed := false
	for range int(d / time.Hour) {
		m.run(time.Hour, host)
		blamed = blamed || slices.ContainsFunc(m.drives, func(id string) bool { return m.verdict(id).Verdict.Blames() })
	}
	return blamed
}

// A new drive learns its baseline on the slow host. What it does then says nothing against the host, and the drives that
// were there before are not blamed meanwhile.
func TestDrivesComeAndGoWhileTheHostIsSlow(t *testing.T) {
	for name, c := range map[string]struct {
		drives int
		change func(*machine)
	}{
		"one is added":             {2, func(m *machine) { m.add("new") }},
		"one of two is replaced":   {2, func(m *machine) { m.remove("d01"); m.add("new") }},
		"one of three is replaced": {3, func(m *machine) { m.remove("d01"); m.add("new") }},
		"one of three is removed":  {3, func(m *machine) { m.remove("d01") }},
		"one of two is removed":    {2, func(m *machine) { m.remove("d01") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, c.drives)
			m.run(2*day, steady)
			m.run(3*time.Hour, always(1.3))
			require.Equal(t, record.Degraded, m.node.Host().Verdict)
			c.change(m)
			assert.False(t, m.blamed(2*day, always(1.3)))
			host := m.node.Host()
			assert.Equal(t, record.Degraded, host.Verdict)
			assert.Nil(t, host.Unjudged)
			require.NotEmpty(t, m.node.Together())
			assert.Equal(t, m.drives, m.node.Together()[0].Drives)
			m.slower["d00"] = 1.4
			m.run(2*time.Hour, always(1.3))
			assert.Equal(t, record.Degraded, m.verdict("d00").Verdict, "what the host does not do is its own")
			m.slower["d00"] = 1
			m.run(day, steady)
			assert.Empty(t, m.node.Together())
			m.slower["d00"] = 1.3
			m.run(2*time.Hour, steady)
			assert.Equal(t, record.Degraded, m.verdict("d00").Verdict, "the host is well again")
		})
	}
}

// While a third drive is new, two tell what the host does.
func TestAHostIsJudgedWhileAThirdDriveIsNew(t *testing.T) {
	m := pair(t)
	m.add("d02")
	assert.False(t, m.blamed(2*time.Hour, steady))
	assert.Equal(t, record.Healthy, m.node.Host().Verdict)
	assert.False(t, m.blamed(2*time.Hour, always(1.3)))
	assert.Equal(t, record.Degraded, m.node.Host().Verdict)
}

// While a third drive is too busy for most of its rounds, whether it ever gets a baseline or not, two tell what the host does.
func TestAHostIsJudgedWhileAThirdDriveIsBusy(t *testing.T) {
	for name, every := range map[string]int{"no round": 10000, "a round a day": 24 * 60, "every six hours": 6 * 60, "a round an hour": 60, "every twelve minutes": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, 3)
			m.idle = true
			busy := func(slower float64) func(int) float64 {
				return func(minute int) float64 {
					m.silent["d02"] = (minute+1)%every != 0
					return slower
				}
			}
			m.silent["d02"] = true
			m.run(3*day, busy(1))
			require.Equal(t, record.Healthy, m.node.Host().Verdict)
			assert.False(t, m.blamed(2*time.Hour, busy(1.3)))
			assert.Equal(t, record.Degraded, m.node.Host().Verdict)
		})
	}
}

// What two targets of one drive have is no change of the host.
func TestAChangeOfTwoTargetsOfOneDriveIsNoneOfTheHost(t *testing.T) {
	m := newMachine(t, 3)
	for i, id := range m.drives {
		m.node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40, Device: []string{"A", "A", "B"}[i]})
	}
	m.conditions.Kernel = "6.1"
	m.run(2*day, steady)
	m.changed = map[string]record.Conditions{"d00": {Kernel: "6.8"}, "d01": {Kernel: "6.8"}}
	m.run(40*time.Minute, always(1.3))
	require.NotEmpty(t, m.node.Together())
	assert.Empty(t, m.node.Together()[0].Attribution)
}

// What is left of a slow drive that recovers on a slow host is what the host does.
func TestTheSickOneOfTwoDrivesRecoversOnASlowHost(t *testing.T) {
	for _, left := range []int{2, 1} {
		m := pair(t)
		m.slower["d00"] = 1.4
		m.run(6*time.Hour, steady)
		m.run(3*time.Hour, always(1.4))
		require.True(t, m.verdict("d00").Verdict.Blames())
		if left == 1 {
			m.remove("d01")
		}
		m.slower["d00"] = 1
		m.run(12*time.Hour, always(1.4))
		for _, id := range m.drives {
			assert.False(t, m.verdict(id).Verdict.Blames(), "%s of %d", id, left)
		}
		assert.Equal(t, record.Degraded, m.node.Host().Verdict)
		m.run(3*time.Hour, steady)
		assert.Empty(t, m.node.Together())
	}
}

// A host is known to be slow, and then too few other drives are measured to tell what it does. No drive is blamed for it, unless
// another one shows that the host is well again.
func TestAHostThatIsSlowStaysSoWhileTooFewTell(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 5)
	m.idle = true
	m.run(36*time.Hour, steady)
	m.run(12*time.Hour, slower(1.3))
	require.Equal(t, record.Degraded, m.node.Host().Verdict)
	for _, id := range m.drives[:3] {
		m.silent[id] = true
	}
	m.run(6*time.Hour, slower(1.3))
	for _, id := range m.drives[3:] {
		assert.False(t, m.verdict(id).Verdict.Blames(), id)
	}
	m.slower["d03"] = 1.3
	m.run(2*time.Hour, slower(1.3))
	assert.True(t, m.verdict("d03").Verdict.Blames(), "slower than the host made it")
	assert.False(t, m.verdict("d04").Verdict.Blames())
	m.run(12*time.Hour, steady)
	assert.True(t, m.verdict("d03").Verdict.Blames(), "the other one shows that the host is well")
	assert.Equal(t, record.Healthy, m.verdict("d04").Verdict)
}
