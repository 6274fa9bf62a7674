package judge_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// toldOfHost returns how often the host was reported, and the worst verdict.
func (m *machine) toldOfHost() (times int, worst record.DriveVerdict) {
	for _, e := range m.events {
		if e.Drive == "" && e.Statistic == record.LatencyP50 && e.State == record.Regressed {
			times++
			if e.Verdict.Badness() > worst.Badness() {
				worst = e.Verdict
			}
		}
	}
	m.events = nil
	return times, worst
}

func slower(x float64) func(int) float64 { return func(int) float64 { return x } }

// A host that is slower for some hours and recovers by itself is reported once. It is news again when it is slower or
// stays slow for longer than ever.
func TestAHostThatWandersIsToldOnce(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	times, _ := m.toldOfHost()
	require.Zero(t, times)

	m.run(4*time.Hour, slower(1.3))
	assert.Equal(t, record.Degraded, m.node.Host().Verdict)
	m.run(2*day+5*time.Hour, steady) // not at the same time of the day
	assert.Equal(t, record.Healthy, m.node.Host().Verdict)
	times, worst := m.toldOfHost()
	assert.Equal(t, 1, times)
	assert.Equal(t, record.Degraded, worst)

	restored := judge.NewNode(drift.Default())
	require.NoError(t, restored.Restore(m.node.State(m.now())))
	m.minute += 6
	restored.Advance(m.now()) // before its drives are added
	for _, id := range m.drives {
		restored.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
		for _, source := range []string{"read-4k", judge.Traffic} {
			restored.Attach(id, source, m.node.Tracker(id, source))
		}
	}
	m.node = restored
	m.run(4*time.Hour, slower(1.3))
	assert.Equal(t, record.Watch, m.node.Host().Verdict, "it is known to do that, after a restart, too")
	assert.Len(t, m.node.Together()[0].Drives, 6)
	m.run(2*day+5*time.Hour, steady)
	times, _ = m.toldOfHost()
	assert.Zero(t, times)

	m.run(4*time.Hour, slower(1.3*1.3))
	times, _ = m.toldOfHost()
	assert.Equal(t, 1, times, "worse than ever")
	m.run(3*day+5*time.Hour, steady)
	m.events = nil

	m.run(8*day, slower(1.3))
	times, worst = m.toldOfHost()
	assert.Equal(t, 1, times, "longer than ever")
	assert.Equal(t, record.Degraded, worst)
	assert.WithinDuration(t, m.now().Add(-8*day), m.node.Host().Since, 10*time.Minute, "since it began")
	m.run(3*day, steady)
	m.events = nil
	m.run(12*time.Hour, slower(1.3))
	times, _ = m.toldOfHost()
	assert.Equal(t, 1, times, "what took longer than a week is no wave")
	m.run(2*time.Hour, slower(2.6))
	_, worst = m.toldOfHost()
	assert.Equal(t, record.Severe, worst, "and when it gets worse meanwhile")

	m.run(40*day, steady)
	m.events = nil
	m.run(4*time.Hour, slower(1.3))
	times, _ = m.toldOfHost()
	assert.Equal(t, 1, times, "after a month it is forgotten")
}

// A host that is severely slower at the same time of day again is not reported again, though nobody expects it any more
// after weeks without it. At another time of day, it is.
func TestAHostThatIsSevereAtTheSameTimeOfDayIsToldOnce(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	m.run(4*time.Hour, slower(2.2))
	times, worst := m.toldOfHost()
	assert.Positive(t, times)
	assert.Equal(t, record.Severe, worst)
	m.run(20*day-4*time.Hour, steady)
	m.events = nil

	m.run(4*time.Hour, slower(2.2))
	times, _ = m.toldOfHost()
	assert.Zero(t, times)
	assert.Equal(t, record.Watch, m.node.Host().Verdict)
	m.run(7*day+4*time.Hour, steady)
	m.events = nil

	m.run(4*time.Hour, slower(2.2))
	_, worst = m.toldOfHost()
	assert.Equal(t, record.Severe, worst)
}

// A host that is slower again as it was before is told if that is no wave that it is known for.
func TestWhatIsNoKnownWaveIsTold(t *testing.T) {
	testenv.Long(t)
	for name, c := range map[string]struct {
		slower              float64
		first, steady, last time.Duration
		worst               record.DriveVerdict
	}{
		"an outage of days does not recur at a time of day":                                     {2.2, 4 * day, 4 * day, 12 * time.Hour, record.Severe},
		"what is expected at its time of day for some days does not make several of a long one": {1.3, 11 * time.Hour, 2 * day, 2 * day, record.Degraded},
	} {
		m := newMachine(t, 6)
		m.run(3*day, steady)
		m.run(c.first, slower(c.slower))
		m.run(c.steady, steady)
		m.events = nil
		m.run(c.last, slower(c.slower))
		_, worst := m.toldOfHost()
		assert.Equal(t, c.worst, worst, name)
	}
}

// What recovers for two hours of each day, but not wholly, did not end by itself.
func TestAHostThatNeverWhollyRecoversIsToldInTheEnd(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	m.run(18*time.Hour, slower(1.3))
	m.run(3*day, steady)
	m.events = nil
	for range 10 {
		m.run(22*time.Hour, slower(1.3))
		m.run(2*time.Hour, slower(1.12))
	}
	_, worst := m.toldOfHost()
	assert.Equal(t, record.Degraded, worst)
}

// A severe batch is news, whatever other drives did at that time of day.
func TestASevereBatchOfOtherDrivesIsTold(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 12)
	m.run(3*day, steady)
	for _, id := range m.drives[:7] {
		m.slower[id] = 2.2
	}
	m.run(4*time.Hour, steady)
	for _, id := range m.drives {
		m.slower[id] = 1
	}
	m.run(20*day-4*time.Hour, steady)
	m.events = nil
	for _, id := range m.drives[5:] {
		m.slower[id] = 2.2
	}
	m.run(time.Hour, steady)
	_, worst := m.toldOfHost()
	assert.Equal(t, record.Severe, worst)
}

// A wave ends when the host is no longer clearly slower, though it is a little slower for days after.
func TestAWaveThatEndsGentlyIsNotALongOne(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	m.run(4*time.Hour, slower(1.3))
	m.run(5*day, slower(1.12))
	m.run(2*day, steady)
	m.events = nil
	m.run(12*time.Hour, slower(1.3))
	times, _ := m.toldOfHost()
	assert.Equal(t, 1, times)
}

// A wave is as long as the host was clearly slower: it may have been a little slower for a day before or in between.
func TestAWaveThatBeganGentlyIsNotALongOne(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	m.run(4*time.Hour, slower(1.3))
	m.run(2*day+5*time.Hour, steady)
	times, _ := m.toldOfHost()
	require.Equal(t, 1, times)

	for range 2 {
		m.run(day, slower(1.12))
		m.run(3*time.Hour, slower(1.3))
		times, _ = m.toldOfHost()
		assert.Zero(t, times)
		assert.Equal(t, record.Watch, m.node.Host().Verdict)
	}
}

// One statistic may be just slow enough to be reported, and another not quite. The next time it may be the other way round, and
// it is still the same host.
func TestAWaveIsKnownByAllStatisticsOfTheHost(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(3*day, steady)
	m.run(4*time.Hour, slower(1.3))
	m.run(2*day+5*time.Hour, steady)
	data, err := json.Marshal(m.node.State(m.now()))
	require.NoError(t, err)
	var state map[string]any
	require.NoError(t, json.Unmarshal(data, &state))
	for _, h := range state["hosts"].([]any) { // as if the median latency of the probe alone had shown it
		for name, w := range h.(map[string]any)["wanders"].(map[string]any) {
			if name != string(record.LatencyP50) {
				delete(w.(map[string]any), "waves")
			}
		}
	}
	data, err = json.Marshal(state)
	require.NoError(t, err)
	var edited judge.State
	require.NoError(t, json.Unmarshal(data, &edited))
	m.restartFrom(edited)
	m.events = nil
	m.run(4*time.Hour, slower(1.3))
	assert.Equal(t, record.Watch, m.node.Host().Verdict)
	for _, e := range m.events {
		assert.NotEqual(t, record.Regressed, e.State, "%s %s", e.Source, e.Statistic)
	}
}
