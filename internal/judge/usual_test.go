package judge_test

import (
	"encoding/json"
	"math"
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

// varying makes the host up to 6 % slower and faster, over a day and a half.
func varying(minute int) float64 { return 1 + 0.06*math.Sin(2*math.Pi*float64(minute)/(37*60)) }

// What a host has done for days by itself is no news, unless conditions changed just then.
func TestAHostThatVariesIsReportedLater(t *testing.T) {
	testenv.Long(t)
	for name, c := range map[string]struct {
		before   func(int) float64
		slower   float64
		kernel   string
		reported bool
	}{
		"one that is steady": {steady, 1.17, "6.1", true},
		"one that varies":    {varying, 1.21, "6.1", false}, // 1.17 times slower than on its first day
		"much slower":        {varying, 1.3, "6.1", true},
		"a new kernel":       {varying, 1.195, "6.2", true},
	} {
		m := newMachine(t, 6)
		m.conditions.Kernel = "6.1"
		m.run(10*day, c.before)
		times, _ := m.toldOfHost()
		require.Zero(t, times, name)
		m.conditions.Kernel = c.kernel
		m.run(time.Hour, slower(c.slower))
		times, _ = m.toldOfHost()
		assert.Equal(t, c.reported, times > 0, name)
		if !c.reported {
			m.slower["d00"], m.slower["d01"] = 1/c.slower, 1/c.slower
			m.run(2*time.Hour, slower(c.slower))
			times, _ = m.toldOfHost()
			assert.Zero(t, times, "that two drives seem to be fast does not make the others a batch")
		}
	}
}

// A host that became faster, which was accepted, is reported when it gets slower again.
func TestAHostThatGotFasterAndWasAcceptedIsReported(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(36*time.Hour, steady)
	m.run(12*time.Hour, slower(0.7))
	_, err := m.node.AcceptHost("new", m.now())
	require.NoError(t, err)
	m.run(6*time.Hour, slower(0.7))
	m.events = nil
	m.run(day, slower(0.7*1.35))
	assert.NotEmpty(t, m.node.Together())
	times, _ := m.toldOfHost()
	assert.Positive(t, times)
}

// A first wave that was only watch does not hide a second one that is degraded.
func TestAWatchedWaveHidesNoDegradedOne(t *testing.T) {
	testenv.Long(t)
	for _, mean := range []float64{0, 0.049} {
		m := newMachine(t, 6)
		m.run(36*time.Hour, steady)
		s := m.node.State(m.now())
		data, err := json.Marshal(s)
		require.NoError(t, err)
		// as if it had usually been that much slower for weeks
		u := map[string]any{}
		require.NoError(t, json.Unmarshal(data, &u))
		for _, h := range u["hosts"].([]any) {
			for _, w := range h.(map[string]any)["wanders"].(map[string]any) {
				w.(map[string]any)["usual"] = map[string]any{"mean": mean, "variance": 0.0001, "blocks": 2880}
			}
		}
		data, err = json.Marshal(u)
		require.NoError(t, err)
		var edited judge.State
		require.NoError(t, json.Unmarshal(data, &edited))
		m.restartFrom(edited)
		k := math.Exp(mean)
		m.events = nil
		m.run(8*time.Hour, slower(k*1.17))
		require.Equal(t, record.Watch, m.node.Host().Verdict)
		m.run(3*day+5*time.Hour, steady)
		m.events = nil
		m.run(8*time.Hour, slower(k*1.22))
		times, _ := m.toldOfHost()
		assert.Equal(t, record.Degraded, m.node.Host().Verdict, "mean %g", mean)
		assert.Equal(t, 1, times)
	}
}

// A state that cannot be is refused: what follows from it could not be stored.
func TestAnImpossibleUsualIsRefused(t *testing.T) {
	testenv.Long(t)
	for _, usual := range []string{`{"mean":1e300,"variance":0.001,"blocks":2880}`, `{"mean":-1e300,"variance":1e300,"blocks":2880}`} {
		m := newMachine(t, 6)
		m.run(36*time.Hour, steady)
		data, err := json.Marshal(m.node.State(m.now()))
		require.NoError(t, err)
		i := strings.Index(string(data), `"usual":{`)
		require.Positive(t, i)
		end := i + strings.Index(string(data[i:]), "}")
		edited := string(data[:i]) + `"usual":` + usual + string(data[end+1:])
		var s judge.State
		require.NoError(t, json.Unmarshal([]byte(edited), &s))
		require.ErrorContains(t, judge.NewNode(drift.Default()).Restore(s), "what a host usually does", usual)
	}
}

// What a host usually does is known after something else was accepted.
func TestWhatAHostUsuallyDoesIsKnownAfterAnAccept(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(10*day, varying)
	m.run(12*time.Hour, slower(1.4))
	_, err := m.node.AcceptHost("new", m.now())
	require.NoError(t, err)
	m.events = nil
	m.run(3*day, func(minute int) float64 { return 1.4 * varying(minute) })
	m.events = nil
	m.run(2*time.Hour, slower(1.4*1.17))
	times, _ := m.toldOfHost()
	assert.Zero(t, times)
}

// A host that is back at what is usual for it is over its slowdown: the next one is news.
func TestAHostThatIsBackAtItsUsualIsOverItsSlowdown(t *testing.T) {
	testenv.Long(t)
	for _, usual := range []float64{1, 1.04, 1.077} {
		m := newMachine(t, 4)
		m.idle = true
		m.run(36*time.Hour, steady)
		m.run(10*day, slower(usual))
		m.events = nil
		m.run(8*time.Hour, slower(1.4))
		times, _ := m.toldOfHost()
		assert.Equal(t, 1, times)
		m.run(40*day+5*time.Hour, slower(usual))
		m.events = nil
		m.run(8*time.Hour, slower(1.4))
		times, _ = m.toldOfHost()
		assert.Equal(t, 1, times, "%g", usual)
	}
}

// A slowdown that was not reported, as the host has such waves, must not go on: the next wave would be that of long ago, and so news.
func TestAWaveThatIsNotReportedIsOverAtTheUsual(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 4)
	m.idle = true
	m.run(36*time.Hour, steady)
	m.run(10*day, slower(1.077))
	m.events = nil
	m.run(8*time.Hour, slower(1.4))
	times, _ := m.toldOfHost()
	require.Equal(t, 1, times)
	for range 2 {
		m.run(10*day, slower(1.077))
		again := m.now()
		m.run(2*time.Hour, slower(1.4))
		assert.Equal(t, record.Watch, m.node.Host().Verdict)
		assert.WithinDuration(t, again, m.node.Host().Since, 10*time.Minute)
		times, _ = m.toldOfHost()
		assert.Zero(t, times)
	}
}

// What is nearly enough to be reported does not become usual.
func TestASlowdownThatIsNotReportedDoesNotBecomeUsual(t *testing.T) {
	testenv.Long(t)
	m := newMachine(t, 6)
	m.run(10*day, varying)
	m.events = nil
	m.run(6*day, slower(1.195))
	times, _ := m.toldOfHost()
	require.Zero(t, times)
	m.run(5*time.Hour, slower(1.27))
	times, _ = m.toldOfHost()
	assert.Positive(t, times)
}
