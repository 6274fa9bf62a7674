package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// stalled adds a stall of d00 that ends now.
func (m *machine) stalled(length time.Duration, cause record.StallCause) {
	m.node.Stall("d00", record.Stall{Start: m.now().Add(-length), Length: length, Cause: cause, InFlight: 3})
	m.node.Advance(m.now())
}

// round adds a round of d00 with an outcome that began now.
func (m *machine) round(outcome record.Outcome, errors map[string]int64) {
	m.node.Add("d00", record.Measurement{Probe: "read-4k", Start: m.now(), Outcome: outcome, Errors: errors})
	m.node.Advance(m.now())
}

// learned returns a machine whose drives have their baselines, so that all of them are healthy.
func learned(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, 3)
	m.run(2*day, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	return m
}

func TestALongStallIsSevereForAnHour(t *testing.T) {
	m := learned(t)
	m.stalled(10*time.Second, record.StallByDevice)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, []string{"stalls"}, v.Witnesses)
	assert.Equal(t, m.now().Add(-10*time.Second), v.Since)
	assert.Zero(t, v.Ratio.Ratio, "it says nothing of the speed")
	assert.Equal(t, record.Healthy, m.verdict("d01").Verdict)
	m.run(55*time.Minute, steady)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
	m.run(10*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

func TestStallsThatGoOnGetWorse(t *testing.T) {
	m := learned(t)
	start := m.now().Add(-9 * time.Second)
	m.node.Stall("d00", record.Stall{Start: start, Length: 9 * time.Second, Cause: record.StallByDevice, Ongoing: true})
	m.node.Advance(m.now())
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	m.node.Advance(m.now().Add(2 * time.Second))
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
	// It turns out to be a discard.
	m.node.Stall("d00", record.Stall{Start: start, Length: 12 * time.Second, Cause: record.StallByDiscard})
	m.node.Advance(m.now().Add(3 * time.Second))
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// The first discard of each night takes long. No such stall makes the next one count against the drive for longer.
func TestDiscardsOfEachNightAreNotHeld(t *testing.T) {
	testenv.Long(t)
	m := learned(t)
	for night := range 4 {
		start := m.now().Add(-11 * time.Second)
		m.node.Stall("d00", record.Stall{Start: start, Length: 11 * time.Second, Cause: record.StallByDevice, Ongoing: true})
		m.node.Advance(m.now())
		assert.Equal(t, record.Severe, m.verdict("d00").Verdict, "night %d", night)
		m.node.Stall("d00", record.Stall{Start: start, Length: 15 * time.Second, Cause: record.StallByDiscard})
		m.run(5*time.Minute, steady)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "night %d", night)
		m.run(24*time.Hour-5*time.Minute, steady)
	}
}

func TestStallsHaveToBeBeyondDoubt(t *testing.T) {
	m := learned(t)
	for _, cause := range record.StallCauses() {
		if cause != record.StallByDevice {
			m.stalled(time.Minute, cause)
		}
	}
	m.stalled(3*time.Second, record.StallByDevice)
	m.run(5*time.Minute, steady)
	m.stalled(3*time.Second, record.StallByDevice)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "two short ones, and long ones that are explained")
	m.run(5*time.Minute, steady)
	m.stalled(time.Second, record.StallByDevice)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "one slow I/O")
	m.run(5*time.Minute, steady)
	m.stalled(3*time.Second, record.StallByDevice)
	assert.Equal(t, record.Severe, m.verdict("d00").Verdict)
}

func TestErrorsAreSevereWhenTheyAreMany(t *testing.T) {
	failed := map[string]int64{"EIO": 1}
	m := learned(t)
	for range 4 {
		m.round(record.OutcomeError, failed)
		m.round(record.OutcomeError, nil) // the load could not be read
		m.run(6*time.Minute, steady)
	}
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "one every six minutes")
	since := m.now()
	for range 3 {
		m.round(record.OutcomeError, failed)
		m.run(2*time.Minute, steady)
	}
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, []string{"errors"}, v.Witnesses)
	assert.False(t, v.Since.After(since))
	m.run(65*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

func TestARoundThatHangsIsSevereUnlessItIsExplained(t *testing.T) {
	testenv.Long(t)
	m := learned(t)
	begun := m.now()
	m.round(record.OutcomeTimeout, nil)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "not yet")
	m.node.Advance(begun.Add(10 * time.Second))
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, begun, v.Since)
	m.node.Stall("d00", record.Stall{Start: begun.Add(-time.Second), Length: 10 * time.Second, Cause: record.StallBySuspended, Ongoing: true})
	m.node.Advance(begun.Add(11 * time.Second))
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, "somebody had suspended the device")

	formatted := learned(t)
	begun = formatted.now()
	formatted.round(record.OutcomeTimeout, nil)
	formatted.node.HeldBack("d00", begun.Add(time.Second), time.Time{})
	formatted.run(2*time.Minute, steady)
	assert.Equal(t, record.Healthy, formatted.verdict("d00").Verdict, "this machine holds the round back")
	formatted.node.HeldBack("d00", begun.Add(time.Second), formatted.now())
	formatted.round(record.OutcomeOK, nil)
	formatted.run(2*time.Minute, steady)
	assert.Equal(t, record.Healthy, formatted.verdict("d00").Verdict, "it did")
	begun = formatted.now()
	formatted.round(record.OutcomeTimeout, nil)
	formatted.node.HeldBack("d00", begun.Add(time.Second), time.Time{})
	formatted.node.HeldBack("d00", begun.Add(time.Second), begun.Add(time.Minute))
	formatted.node.Advance(begun.Add(2 * time.Minute))
	assert.Equal(t, record.Severe, formatted.verdict("d00").Verdict, "it hangs on when nothing holds it back any more")

	other := learned(t)
	other.round(record.OutcomeTimeout, nil)
	other.run(2*time.Minute, steady)
	other.round(record.OutcomeOK, nil)
	assert.Equal(t, record.Severe, other.verdict("d00").Verdict)
	other.run(65*time.Minute, steady)
	assert.Equal(t, record.Healthy, other.verdict("d00").Verdict)
	other.node.Stall("nothing", record.Stall{}) // a drive that was removed
}

func TestAHangEndsWithTheNextRoundWhateverItSays(t *testing.T) {
	testenv.Long(t)
	for _, outcome := range record.Outcomes() {
		if outcome == record.OutcomeTimeout {
			continue
		}
		m := learned(t)
		m.round(record.OutcomeTimeout, nil)
		m.run(2*time.Minute, steady)
		require.Equal(t, record.Severe, m.verdict("d00").Verdict, outcome)
		m.round(outcome, nil)
		m.run(65*time.Minute, steady)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict, outcome)
	}
	m := learned(t)
	m.round(record.OutcomeTimeout, nil)
	m.run(2*time.Minute, steady)
	m.node.Returned("d00", m.now()) // in quiet hours there is no other round
	m.run(65*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// What explained a hang still explains it after the explanation is forgotten.
func TestAHangThatWasExplainedStaysSo(t *testing.T) {
	m := learned(t)
	m.round(record.OutcomeTimeout, nil)
	begun := m.now()
	m.node.Stall("d00", record.Stall{Start: begun, Length: 50 * time.Second, Cause: record.StallByReset})
	m.node.Returned("d00", begun.Add(51*time.Second))
	for range 70 {
		m.run(time.Minute, steady)
		assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	}
}

func TestARoundThatWasSlowIsNoHang(t *testing.T) {
	m := learned(t)
	done := record.Histogram{{Count: 240}}
	m.node.Add("d00", record.Measurement{Probe: "read-4k", Start: m.now(), Outcome: record.OutcomeTimeout, Latency: done})
	m.run(5*time.Minute, steady)
	assert.Equal(t, record.Healthy, m.verdict("d00").Verdict)
}

// A reload replaces the watch of a drive while a round hangs: the drive hangs until that round returns.
func TestADriveThatIsReplacedStillHangs(t *testing.T) {
	m := learned(t)
	m.silent = map[string]bool{"d00": true}
	m.round(record.OutcomeTimeout, nil)
	m.run(time.Minute, steady)
	require.Equal(t, record.Severe, m.verdict("d00").Verdict)
	m.node.ReplaceDrive(judge.Drive{ID: "d00", Model: "X", SizeBytes: 1 << 40})
	m.run(2*time.Hour, steady)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, []string{"stalls"}, v.Witnesses)

	m.node.Returned("d00", m.now())
	m.run(2*time.Hour, steady)
	assert.NotEqual(t, record.Severe, m.verdict("d00").Verdict)

	m.round(record.OutcomeTimeout, nil)
	m.node.ReplaceDrive(judge.Drive{ID: "d00", Model: "Y", SizeBytes: 1 << 40})
	m.run(time.Minute, steady)
	assert.NotEqual(t, record.Severe, m.verdict("d00").Verdict, "it is another drive")
}

// A drive that fails I/Os may become slow later: it is not slow since the first error.
func TestEachWitnessHasAnOnsetOfItsOwn(t *testing.T) {
	m := learned(t)
	failed := m.now()
	for range 3 {
		m.round(record.OutcomeError, map[string]int64{"EIO": 1})
		m.run(time.Minute, steady)
	}
	m.run(17*time.Minute, steady)
	slow := m.now()
	m.slower["d00"] = 1.6
	m.run(30*time.Minute, steady)
	v := m.verdict("d00")
	assert.Equal(t, record.Severe, v.Verdict)
	assert.ElementsMatch(t, []string{"errors", "probes", "traffic"}, v.Witnesses)
	assert.Equal(t, failed, v.Since, "the verdict as a whole began with its first reason")
	assert.Equal(t, failed, v.Onset(record.WitnessErrors))
	for _, w := range []string{record.WitnessProbes, record.WitnessTraffic} {
		assert.WithinDuration(t, slow, v.Onset(w), 5*time.Minute, w)
	}
	assert.WithinDuration(t, slow, v.SlowSince(), 5*time.Minute)
	e := m.events[len(m.events)-1]
	assert.Equal(t, v.Onsets, e.Onsets, "as the log has it")
}

// Single errors and stalls count for an hour. Those that go on for hours have not begun an hour ago.
func TestTroubleThatGoesOnKeepsItsOnset(t *testing.T) {
	m := learned(t)
	failed := m.now()
	for range 60 {
		m.round(record.OutcomeError, map[string]int64{"EIO": 1})
		m.run(3*time.Minute, steady)
	}
	assert.Equal(t, failed, m.verdict("d00").Onset(record.WitnessErrors))
	stalled := m.now().Add(-10 * time.Second)
	for range 4 {
		m.round(record.OutcomeError, map[string]int64{"EIO": 1})
		m.stalled(10*time.Second, record.StallByDevice)
		m.run(30*time.Minute, steady)
	}
	v := m.verdict("d00")
	assert.Equal(t, stalled, v.Onset(record.WitnessStalls))
	assert.NotContains(t, v.Witnesses, record.WitnessErrors, "one each half hour is not enough")
	assert.NotContains(t, v.Onsets, record.WitnessErrors)
	assert.Equal(t, stalled, v.Since)
	m.run(70*time.Minute, steady)
	require.Equal(t, record.Healthy, m.verdict("d00").Verdict)
	assert.Empty(t, m.verdict("d00").Onsets)
	for range 60 {
		m.round(record.OutcomeError, map[string]int64{"EIO": 1})
		m.run(3*time.Minute, steady)
	}
	assert.WithinDuration(t, m.now().Add(-3*time.Hour), m.verdict("d00").Onset(record.WitnessErrors), 0, "it began anew")
}

// A verdict lasts while the clock is set back, and has not begun in the future.
func TestNoWitnessHasAnOnsetInTheFuture(t *testing.T) {
	m := learned(t)
	m.stalled(10*time.Second, record.StallByDevice)
	before := m.verdict("d00")
	m.node.Advance(m.now().Add(-5 * time.Minute))
	v := m.verdict("d00")
	require.Equal(t, record.Severe, v.Verdict)
	assert.Equal(t, v.Since, v.Onset(record.WitnessStalls))
	assert.True(t, v.Since.Before(before.Since))
	assert.Equal(t, m.now().Add(-10*time.Second), before.Onset(record.WitnessStalls), "what was told before is not changed")
}
