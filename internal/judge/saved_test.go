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

// start is a minute in 2026, counted from 1970.
const start = 29_600_000

// again returns a value after it was stored and loaded.
func again[T any](t *testing.T, v T) (out T) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// sources returns the sources of each drive of a machine.
func sources() []string { return []string{"read-4k", judge.Traffic} }

// restart replaces the node of m by one restored from what a daemon stores.
func (m *machine) restart() {
	m.t.Helper()
	m.restartFrom(m.node.State(m.now()))
}

func (m *machine) restartFrom(s judge.State) {
	m.t.Helper()
	node := judge.NewNode(drift.Default())
	require.NoError(m.t, node.Restore(again(m.t, s)))
	for _, id := range m.drives {
		node.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
		for _, source := range sources() {
			tracker := drift.NewTracker(drift.Default())
			if source == judge.Traffic {
				tracker = judge.NewTrafficTracker(drift.Default())
			}
			require.NoError(m.t, tracker.Restore(again(m.t, m.node.Tracker(id, source).State())))
			node.Attach(id, source, tracker)
		}
	}
	m.node = node
}

// told returns the events of a machine as strings that can be compared.
func (m *machine) told() (list []string) {
	for _, e := range m.events {
		list = append(list, fmt.Sprint(e.Time.Unix(), e.Drive, e.Scope, e.Drives, e.Verdict, e.Witnesses, e.Ratio, e.Since.Unix(), e.Source, e.Statistic, e.State, e.Cause))
	}
	return list
}

// Restarts in the middle of everything that is judged change nothing: neither the events and their times, nor the
// verdicts.
func TestARestartChangesNothing(t *testing.T) {
	testenv.Long(t)
	wave := func(minute int) float64 { return 1 + 0.1*float64(minute/90%2) }
	slowHost := func(minute int) float64 { return 1.3 * wave(minute) }
	for name, part := range map[string]func(m *machine, run func(time.Duration, func(int) float64)){
		"a slow drive": func(m *machine, run func(time.Duration, func(int) float64)) {
			run(36*time.Hour, wave)
			m.slower["d03"] = 1.25
			run(6*time.Hour, wave)
			m.slower["d03"] = 1
			run(6*time.Hour, wave)
		},
		"a drive at the limit": func(m *machine, run func(time.Duration, func(int) float64)) {
			run(36*time.Hour, steady)
			m.slower["d02"] = 1.22
			run(4*time.Hour, steady)
			m.slower["d02"] = 1.16
			run(8*time.Hour, steady)
		},
		"a slow host": func(m *machine, run func(time.Duration, func(int) float64)) {
			run(30*time.Hour, wave)
			run(8*time.Hour, slowHost)
			m.slower["d01"] = 1.5
			run(4*time.Hour, slowHost)
			run(4*time.Hour, wave)
		},
		"a batch": func(m *machine, run func(time.Duration, func(int) float64)) {
			run(30*time.Hour, wave)
			m.slower["d00"], m.slower["d01"], m.slower["d02"] = 1.4, 1.4, 1.4
			run(4*time.Hour, wave)
		},
		"a drive that was slow from its first day": func(m *machine, run func(time.Duration, func(int) float64)) {
			m.slower["d04"] = 1.4
			run(9*time.Hour, steady)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once, often := newMachine(t, 6), newMachine(t, 6)
			once.minute, often.minute = start, start
			part(once, once.run)
			part(often, func(d time.Duration, host func(int) float64) {
				for left := d; left > 0; left -= 127 * time.Minute {
					often.run(min(left, 127*time.Minute), host)
					often.restart()
				}
			})
			assert.NotEmpty(t, once.told())
			assert.Equal(t, once.told(), often.told())
			for _, id := range once.drives {
				assert.Equal(t, again(t, once.verdict(id)), again(t, often.verdict(id)), id)
			}
			assert.Equal(t, again(t, once.node.Together()), again(t, often.node.Together()))
		})
	}
}

// What was found to be the host, and is not reported yet, is no batch after a restart because some drives look fast.
func TestARestartKeepsThatItIsTheHost(t *testing.T) {
	m := newMachine(t, 6)
	m.minute = start
	m.run(30*time.Hour, steady)
	text, err := json.Marshal(m.node.State(m.now()))
	require.NoError(t, err)
	var kept map[string]any
	require.NoError(t, json.Unmarshal(text, &kept))
	for _, h := range kept["hosts"].([]any) {
		h.(map[string]any)["wanders"] = map[string]any{
			"latency_p50_seconds": map[string]any{"host": true, "drives": []string{"d00", "d01", "d02", "d03"}, "of": 6},
		}
	}
	text, err = json.Marshal(kept)
	require.NoError(t, err)
	var s judge.State
	require.NoError(t, json.Unmarshal(text, &s))
	again := judge.NewNode(drift.Default())
	require.NoError(t, again.Restore(s))
	text, err = json.Marshal(again.State(m.now()).Hosts)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"drives":["d00","d01","d02","d03"],"of":6,"host":true`)
}

// slowHost returns a machine in the middle of a slow host, with one drive that is slower still.
func slowHost(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, 5)
	m.minute = start
	m.run(30*time.Hour, steady)
	m.run(3*time.Hour, func(int) float64 { return 1.3 })
	m.slower["d01"] = 1.5
	m.run(time.Hour, func(int) float64 { return 1.3 })
	require.Equal(t, record.Degraded, m.verdict("d01").Verdict)
	require.NotEmpty(t, m.node.Together())
	return m
}

// Right after a restart, before any round, the verdicts are as before. Then a host that is as slow as before the
// restart makes no drive slow.
func TestWhatIsSaidRightAfterARestart(t *testing.T) {
	m := slowHost(t)
	verdict, together, told := m.verdict("d01"), m.node.Together(), len(m.events)
	m.restart()
	assert.Equal(t, again(t, verdict), again(t, m.verdict("d01")))
	assert.Equal(t, again(t, together), again(t, m.node.Together()))
	m.minute += 20 // the daemon was away, so the fast path has only earlier rounds
	m.run(30*time.Minute, func(int) float64 { return 1.3 })
	for _, e := range m.events[told:] {
		assert.Empty(t, e.Verdict, "no verdict is told again: %v", e)
		assert.NotEqual(t, record.Regressed, e.State, e)
	}
	assert.Equal(t, verdict.Since.Unix(), m.verdict("d01").Since.Unix())
	assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
}

func TestAGapOfDaysEndsNoVerdict(t *testing.T) {
	m := slowHost(t)
	verdict := m.verdict("d01")
	m.minute += 3 * 24 * 60
	m.restart()
	m.run(time.Hour, func(int) float64 { return 1.3 })
	assert.Equal(t, record.Degraded, m.verdict("d01").Verdict)
	assert.Equal(t, verdict.Since.Unix(), m.verdict("d01").Since.Unix())
	assert.NotEmpty(t, m.node.Together())
	assert.Equal(t, record.Healthy, m.verdict("d02").Verdict)
}

// A drive that is taken out and put in again continues where it was. It is remembered for a day.
func TestADriveThatIsSeatedAgain(t *testing.T) {
	m := slowHost(t)
	verdict, tracker := m.verdict("d01"), m.node.Tracker("d01", "read-4k")
	m.node.RemoveDrive("d01")
	_, here := m.node.Verdict("d01")
	require.False(t, here)
	state := m.node.State(m.now())
	assert.Len(t, state.Drives, 5)
	assert.Len(t, m.node.State(m.now().Add(day)).Drives, 4)

	m.node.AddDrive(judge.Drive{ID: "d01", Model: "X", SizeBytes: 1 << 40})
	m.node.Attach("d01", "read-4k", tracker)
	assert.Equal(t, verdict, m.verdict("d01"))
	m.node.RemoveDrive("d01")
	m.node.AddDrive(judge.Drive{ID: "d01", Model: "Y", SizeBytes: 1 << 40})
	assert.Equal(t, record.Unjudged, m.verdict("d01").Verdict, "another drive has its place")
}

// What a probe that was switched off had shown beside the peers, or a drive that was taken out, is no news weeks later.
func TestALevelOfLongAgoDoesNotComeBack(t *testing.T) {
	testenv.Long(t)
	slow := func() *machine {
		m := newMachine(t, 5)
		m.idle, m.slower["d04"] = true, 1.5
		m.run(30*time.Hour, steady)
		require.True(t, m.farFromPeers("d04"))
		return m
	}
	seated := judge.Drive{ID: "d04", Model: "X", SizeBytes: 1 << 40}
	m := slow()
	m.node.ReplaceDrive(seated) // a reload
	require.NotNil(t, m.node.Tracker("d04", "read-4k"))
	assert.True(t, m.farFromPeers("d04"))

	m = slow()
	m.node.RemoveDrive("d04")
	m.run(20*day, steady)
	m.node.AddDrive(seated)
	require.NotNil(t, m.node.Tracker("d04", "read-4k"))
	assert.False(t, m.farFromPeers("d04"), "the drive")

	m = slow()
	m.node.ReplaceDrive(seated) // with another probe
	m.silent["d04"] = true
	for range 20 * 24 * 60 {
		m.node.Round("d04", "read-128k", drift.Round{Time: m.now(), Values: drift.Values{1e-3, 2e-3, 3e-3, 1e3}}, m.conditions)
		m.run(time.Minute, steady)
	}
	m.restart()
	require.NotNil(t, m.node.Tracker("d04", "read-4k"))
	assert.False(t, m.farFromPeers("d04"), "the probe")
}

// A drive that had no rounds for a day, as it is too busy, keeps what was known of it over a reload and when it is seated again.
func TestADriveWithoutRoundsForADayIsNotForgotten(t *testing.T) {
	m := newMachine(t, 5)
	m.idle, m.slower["d04"] = true, 1.5
	m.run(30*time.Hour, steady)
	m.silent["d04"] = true
	m.run(25*time.Hour, steady)
	require.True(t, m.farFromPeers("d04"))
	seated := judge.Drive{ID: "d04", Model: "X", SizeBytes: 1 << 40}
	again := func(replace func()) {
		tracker := m.node.Tracker("d04", "read-4k")
		replace()
		m.node.Attach("d04", "read-4k", tracker)
		m.run(10*time.Minute, steady)
		assert.True(t, m.farFromPeers("d04"))
		assert.Equal(t, record.Degraded, m.verdict("d04").Verdict)
	}
	again(func() { m.node.ReplaceDrive(seated) })
	again(func() {
		m.node.RemoveDrive("d04")
		m.run(7*time.Minute, steady)
		m.node.AddDrive(seated)
	})
}

// A level may be accepted while no daemon has run for days. What is known of the host stays as it is.
func TestAHostIsKeptWhileNothingIsJudged(t *testing.T) {
	m := slowHost(t)
	stored := again(t, m.node.State(m.now()))
	require.Len(t, stored.Hosts, 2)
	node := judge.NewNode(drift.Default())
	require.NoError(t, node.Restore(stored))
	assert.Equal(t, stored.Hosts, again(t, node.State(m.now().Add(3*day))).Hosts)
}

// A slowdown that was accepted while no daemon ran is no longer reported once the node judges.
func TestABaselineThatChangedMeanwhile(t *testing.T) {
	m := slowHost(t)
	state := m.node.State(m.now())
	for _, source := range sources() {
		accepted, err := m.node.Tracker("d01", source).State().Accept(m.now(), "as it is")
		require.NoError(t, err)
		require.NoError(t, m.node.Tracker("d01", source).Restore(accepted))
	}
	m.restartFrom(state)
	m.events = m.node.Advance(m.now())
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict)
	assert.Equal(t, m.now().UTC(), m.verdict("d01").Accepted)
	days := map[string]judge.Day{}
	for _, d := range m.node.State(m.now()).Drives {
		days[d.ID] = d.Sources["read-4k"].Day
	}
	assert.Empty(t, days["d01"].Shifts, "it was beside another baseline")
	assert.NotEmpty(t, days["d02"].Shifts)
	assert.Equal(t, state.Drives[2].Sources["read-4k"].Day, days["d02"])
}

func TestAnotherEngineKeepsWhatIsOfTraffic(t *testing.T) {
	m := slowHost(t)
	state := m.node.State(m.now()).WithoutProbes()
	require.Len(t, state.Hosts, 1)
	assert.Equal(t, judge.Traffic, state.Hosts[0].Source)
	assert.Empty(t, state.Drives[0].Sources["read-4k"].Day.Shifts)
	assert.NotEmpty(t, state.Drives[0].Sources[judge.Traffic].Day.Shifts)
	assert.Equal(t, record.Degraded, state.Drives[1].Verdict.Verdict)
}

func TestStatesThatNoNodeHasWritten(t *testing.T) {
	m := slowHost(t)
	for name, spoil := range map[string]func(s *judge.State){
		"no source":       func(s *judge.State) { s.Hosts[0].Source = "" },
		"another source":  func(s *judge.State) { s.Hosts[0].Source, s.Hosts[1].Source = s.Hosts[1].Source, s.Hosts[0].Source },
		"a host":          func(s *judge.State) { s.Hosts[0].Host.Epochs = nil },
		"no id":           func(s *judge.State) { s.Drives[0].ID = "" },
		"a verdict":       func(s *judge.State) { s.Drives[0].Verdict.Verdict = "fine" },
		"a day of a week": func(s *judge.State) { spoilDay(s, strings.Repeat("0 ", 7*288)) },
		"a day of words":  func(s *judge.State) { spoilDay(s, "0 1 two") },
	} {
		t.Run(name, func(t *testing.T) {
			state := again(t, m.node.State(m.now()))
			spoil(&state)
			node := judge.NewNode(drift.Default())
			require.Error(t, node.Restore(state))
			assert.Empty(t, node.State(m.now()).Hosts, "nothing half-done")
		})
	}
}

func spoilDay(s *judge.State, text string) {
	s.Drives[0].Sources["read-4k"].Day.Shifts[record.LatencyP50] = text
}

// What the node and the tracker keep of a source is below 24 KiB together.
func TestWhatTheNodeKeepsIsSmall(t *testing.T) {
	m := slowHost(t)
	whole, err := json.Marshal(m.node.State(m.now()))
	require.NoError(t, err)
	tracker, err := json.Marshal(m.node.Tracker("d01", "read-4k").State())
	require.NoError(t, err)
	each := len(whole) / len(m.drives) / len(sources())
	t.Logf("%d bytes a source, beside %d of its tracker", each, len(tracker))
	assert.Less(t, each+len(tracker), 24<<10)
	for range 100 {
		m.node.RemoveDrive("d02")
		m.node.AddDrive(judge.Drive{ID: "d02", Model: "X", SizeBytes: 1 << 40})
	}
	for i := range 200 {
		id := fmt.Sprintf("gone%d", i)
		m.node.AddDrive(judge.Drive{ID: id})
		m.node.Round(id, "read-4k", drift.Round{Time: m.now(), Values: drift.Values{1, 1, 1, 1}}, m.conditions)
		m.node.RemoveDrive(id)
	}
	assert.Len(t, m.node.State(m.now()).Drives, 5+64)
}

// A stall counts against the drive after a restart for as long as before. A stall that goes on does not count for
// ever.
func TestTroubleSurvivesARestart(t *testing.T) {
	m := newMachine(t, 3)
	m.minute = start
	m.run(2*time.Hour, steady)
	m.node.Stall("d01", record.Stall{Start: m.now().Add(-time.Minute), Length: 12 * time.Second, Cause: record.StallByDevice, InFlight: 3, Ongoing: true})
	m.run(2*time.Minute, steady)
	verdict := m.verdict("d01")
	require.Equal(t, record.Severe, verdict.Verdict)
	told := len(m.events)
	m.restart()
	m.run(50*time.Minute, steady)
	assert.Equal(t, again(t, verdict), again(t, m.verdict("d01")))
	assert.Empty(t, m.events[told:], "nothing is told again")
	m.run(20*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict)
}

// What was noted before the clock was set back is of the future. It must not displace the last day from what is stored.
func TestTheLastDayIsKeptAfterTheClockWasSetBack(t *testing.T) {
	m := newMachine(t, 3)
	m.minute, m.idle = start, true
	m.run(3*time.Hour, steady)
	m.minute -= 10 * 24 * 60
	m.run(3*time.Hour, steady)
	stored := m.node.State(m.now()).Drives[0].Sources["read-4k"].Day
	assert.Equal(t, drift.Slot(m.now().Add(-3*time.Hour)), stored.First)
	assert.Len(t, strings.Fields(stored.Shifts[record.LatencyP50]), 35, "the last block is not over")
}
