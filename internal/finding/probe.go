package finding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// staleRounds is how many intervals have to pass without a good round before that is a finding. A busy hour is
// normal; a probe that never gets its turn is not.
const staleRounds = 10

// ofProbe lists the findings of a probe. It does not report missing rounds when they are explained by the target's
// own problem or by quiet hours.
func ofProbe(p record.ProbeStatus, held *record.HeldBack, s record.Snapshot, explained bool) []Finding {
	var all []Finding
	if since, hung := p.HungSince(s.Time); hung {
		f := found(Hung, "the device does not answer", "a round did not end within "+units.Span(p.Probe.Timeout))
		if held != nil {
			f = found(HeldBack, "I/O is held back before the device", "a round did not end within "+units.Span(p.Probe.Timeout)+", but the device has nothing in flight: "+holds(*held))
		}
		all = append(all, f.from(since))
	} else if since := lastGood(p, s); !explained && !s.Started.IsZero() && s.Time.Sub(since) > staleRounds*p.Probe.Interval {
		f := found(Stale, "not measured", lastRound(p))
		if p.Last != nil {
			f.Action = cmp.Or(instead(p.Last.Outcome), f.Action)
		}
		all = append(all, f.from(since))
	}
	if len(p.Errors) > 0 {
		all = append(all, ioErrors(p, s))
	}
	slower := ofDrift(p.Drift, record.Regressed, Regressed, "slower than its baseline")
	if len(slower) == 0 { // otherwise nobody has to wait for the other statistics
		slower = ofDrift(p.Drift, record.Suspect, Suspect, "may be slower than its baseline")
	}
	all = append(append(all, slower...), ofLifetime(p)...)
	all = append(all, ofUnjudged(p, s)...)
	if p.Last != nil {
		all = append(all, ofWarnings(p.Last.Warnings)...)
	}
	return all
}

// instead returns the advice about rounds that nothing blocks: they read an empty drive, or fail. It is empty for all
// other outcomes.
func instead(o record.Outcome) string {
	switch o {
	case record.OutcomeUnmapped:
		return found(record.WarnPoolSmall, "").Action
	case record.OutcomeError:
		return found(IOErrors, "").Action
	default:
		return ""
	}
}

// holds says what may hold the I/O back.
func holds(h record.HeldBack) string {
	if h.Suspended {
		return "a device-mapper device is suspended"
	}
	return "its queue is frozen, for example while an NVMe drive is formatted, or a limit of the cgroup holds it back"
}

// lastGood returns the time of the last good round, or the start of the daemon when there was none.
func lastGood(p record.ProbeStatus, s record.Snapshot) time.Time {
	if p.LastSuccess.IsZero() {
		return s.Started
	}
	return p.LastSuccess
}

func lastRound(p record.ProbeStatus) string {
	switch {
	case p.Last == nil:
		return "no round has been run"
	case p.Last.Reason == "":
		return fmt.Sprintf("the last round was %s", p.Last.OutcomeText())
	default:
		return fmt.Sprintf("the last round was %s, %s", p.Last.OutcomeText(), p.Last.Reason)
	}
}

// errorsAge is how long after the last failed I/O nobody has to act any more.
const errorsAge = 24 * time.Hour

// ioErrors returns the finding about all I/Os of a probe that failed since the daemon started.
func ioErrors(p record.ProbeStatus, s record.Snapshot) Finding {
	var total uint64
	var evidence []string
	for _, errno := range slices.Sorted(maps.Keys(p.Errors)) {
		total += p.Errors[errno]
		evidence = append(evidence, units.Count(p.Errors[errno])+" "+errno)
	}
	text := units.Plural(total, "I/O") + " failed since ssdprobe started"
	if !s.Started.IsZero() {
		text += " at " + units.Minute(s.Started)
	}
	fail := p.Last != nil && p.Last.Outcome == record.OutcomeError && len(p.Last.Errors) > 0
	past := !p.LastError.IsZero() && s.Time.Sub(p.LastError) >= errorsAge
	if past {
		text += ", but none within a day"
	}
	if !fail && !p.LastError.IsZero() {
		evidence = append(evidence, "the last at "+units.Minute(p.LastError))
	}
	f := found(IOErrors, text, evidence...)
	switch {
	case fail:
		f.Severity, f.Since = Critical, lastGood(p, s) // the start of the last round would move with each
	case past:
		f.Severity = Info
	}
	return f
}

// ofDrift returns one finding for all statistics in a state, because they mostly move together.
func ofDrift(drifts []record.Drift, state record.DriftState, code, text string) []Finding {
	in, since := InState(drifts, state)
	if len(in) == 0 {
		return nil
	}
	f := found(code, text).from(since)
	var causes []record.Change
	for _, d := range in {
		f.Evidence = append(f.Evidence, driftText(d))
		causes = addChanges(causes, d.Attribution)
	}
	if len(causes) == 0 && state == record.Regressed {
		f.Action = "no change of conditions found; suspect the drive"
	}
	f.Evidence = append(f.Evidence, changedWith(causes)...)
	return []Finding{f}
}

// addChanges adds changes of conditions, each once.
func addChanges(all, more []record.Change) []record.Change {
	for _, change := range more {
		if !slices.Contains(all, change) {
			all = append(all, change)
		}
	}
	return all
}

// changedWith returns the evidence about changes of conditions; none when there are none.
func changedWith(changes []record.Change) []string {
	if text := record.ChangedWith(changes); text != "" {
		return []string{OneLine(text)}
	}
	return nil
}

// InState returns the statistics in a state, and when the first of them entered it.
func InState(drifts []record.Drift, state record.DriftState) (in []record.Drift, since time.Time) {
	for _, d := range drifts {
		if d.State != state {
			continue
		}
		if len(in) == 0 || d.Since.Before(since) {
			since = d.Since
		}
		in = append(in, d)
	}
	return in, since
}

// driftText returns the drift in words: "p50 1.62× (1.57× to 1.68×)".
func driftText(d record.Drift) string {
	name := d.Statistic.Short()
	if d.Cause == record.BySlowRounds {
		return name + " slow rounds have become common; the others are as before"
	}
	return strings.TrimSpace(name + " " + units.RatioWithin(d.Ratio, d.Lower, d.Upper))
}
