package record

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// busRoundTrip is the shortest time that an I/O spends on the bus in addition to its data. The doorbell, the fetch of
// the command and the completion cross the bus one after the other, at a few hundred nanoseconds each.
const busRoundTrip = time.Microsecond

// Impossible returns a warning when figures cannot be true of a device behind this link: more bytes per second in one
// direction than the link carries, or a typical latency shorter than the time that blockBytes take to cross it.
// Otherwise it returns false. Zero figures are ignored.
//
// A link that supports no more than 2.5 GT/s x1 gives no result. Emulated controllers report such a link, but do not
// have one.
func (l PCIeLink) Impossible(bytesPerSecond float64, blockBytes int64, typical time.Duration) (Warning, bool) {
	carries := l.BytesPerSecond()
	if carries <= 0 || l.MaxGTs <= 2.5 && l.MaxLanes <= 1 {
		return Warning{}, false
	}
	const advice = "unwritten blocks or a cache answered instead of the drive, or the clock is wrong"
	if bytesPerSecond > carries {
		return Warning{Code: WarnImpossible, Text: fmt.Sprintf("impossible: %.0f MB/s is more than the PCIe link (%s) can carry, %.0f MB/s: %s",
			bytesPerSecond/1e6, l, carries/1e6, advice)}, true
	}
	least := busRoundTrip + time.Duration(float64(blockBytes)/carries*1e9)
	if typical > 0 && typical < least {
		return Warning{Code: WarnImpossible, Text: fmt.Sprintf("impossible: a median latency of %.2f µs is less than the %.2f µs that %d bytes take over the PCIe link (%s): %s",
			float64(typical)/1e3, float64(least)/1e3, blockBytes, l, advice)}, true
	}
	return Warning{}, false
}

// FlagImpossible adds warnings to a step of the run whose figures the device's link cannot carry. When the step used
// several targets, each is checked against its own link. The step must not have used the page cache.
func (r *RunReport) FlagImpossible(step *Step) {
	target := r.Target
	if step.Workload != nil && len(step.Workload.Targets) == 1 {
		target = step.Workload.Targets[0]
	}
	parts := step.Parts
	if len(parts) == 0 {
		parts = []Part{{Target: target, Read: step.Read, Write: step.Write}}
	}
	for _, part := range parts {
		for _, w := range part.impossible(r.deviceOf(part.Target)) {
			if len(parts) > 1 {
				w.Text = part.Target + ": " + w.Text
			}
			step.Warnings = append(step.Warnings, w)
		}
	}
}

// Impossible reports whether figures of the step cannot be true. Such a step has no result: its figures are shown as
// evidence, but no conclusion is drawn from them.
func (s *Step) Impossible() bool { return s.warned(WarnImpossible) }

// Measured reports whether the step has a result to conclude from: it ran to its end, and its figures can be true.
func (s *Step) Measured() bool {
	return (s.Read != nil || s.Write != nil) && !s.warned(WarnShort) && !s.Impossible()
}

// fewOthers is the share of a step's own I/O up to which I/O of others is tolerated. Others then explain a change of
// about that share at most, but no larger one.
const fewOthers = 0.2

// Spoiled returns the code of the first warning that says that the step measured something other than its load on the
// drive, or only a part of the load. Such a step must not decide anything. It returns an empty string when the step
// may decide. A step that is limited by the CPU is not spoiled.
func (s *Step) Spoiled() string {
	for _, w := range s.Warnings {
		switch w.Code {
		case WarnOthersActive:
			if s.OthersRatio > 0 && s.OthersRatio <= fewOthers {
				continue
			}
			return w.Code
		case WarnShort, WarnBrief, WarnDisturbed, WarnIOLimited, WarnUnmapped, WarnPoolSmall, WarnErrors, WarnImpossible:
			return w.Code
		}
	}
	return ""
}

func (s *Step) warned(code string) bool {
	return slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Code == code })
}

// ErrImpossible means that figures of a run are physically impossible, so that they are not a result.
var ErrImpossible = errors.New("no result")

// CheckPhysics returns an error that matches ErrImpossible and contains the first reason when figures of the run
// cannot be true.
func (r *RunReport) CheckPhysics() error {
	n, why := 0, ""
	for i := range r.Steps {
		s := &r.Steps[i]
		j := slices.IndexFunc(s.Warnings, func(w Warning) bool { return w.Code == WarnImpossible })
		if j < 0 {
			continue
		}
		n++
		if n == 1 {
			why = s.Name + ": " + s.Warnings[j].Text
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("run %s on %s: %w in %d of %d steps: %s", r.Suite, r.Target, ErrImpossible, n, len(r.Steps), why)
}

func (r *RunReport) deviceOf(path string) Device {
	for _, t := range r.Targets {
		if t.Path == path {
			return t.Device
		}
	}
	return r.Device
}

func (p Part) impossible(d Device) []Warning {
	if d.Link == nil {
		return nil
	}
	var all []Warning
	for _, result := range []*Result{p.Read, p.Write} {
		if result == nil || result.IOs <= 0 {
			continue
		}
		rate := result.BytesPerSecond
		if len(d.Controllers) > 1 { // each controller has its own link, and multipath uses all of them
			rate = 0
		}
		if w, bad := d.Link.Impossible(rate, result.Bytes/result.IOs, result.Quantile(0.5)); bad {
			all = append(all, w)
		}
	}
	return all
}
