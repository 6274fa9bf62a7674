package compare

import (
	"cmp"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Disregarded returns how many steps of a run may not decide a comparison, and the codes
// of the warnings that keep them from it.
func Disregarded(r record.RunReport) (steps int, codes []string) {
	for _, step := range r.Steps {
		if code := disregarded(r, step); code != "" {
			steps++
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return steps, slices.Compact(codes)
}

// MoreRepeats is how many repeats of a run suffice on each side for a comparison to find small
// changes; 0 when the run has as many, or its suite has none.
func MoreRepeats(r record.RunReport) int {
	all := loads(r)
	enough := repeatsFor(max(1, len(all)))
	few := slices.ContainsFunc(all, func(l load) bool { return len(l.results) < enough })
	if r.Unrepeatable || !few {
		return 0
	}
	return enough
}

// disregarded returns the code of the first warning that keeps a step of a run from
// deciding: it says that something else was measured than the drive, or only a part of
// the step. It is empty when the step may decide.
func disregarded(r record.RunReport, step record.Step) string {
	return cmp.Or(step.Spoiled(), notTheDrive(r.Warnings), notTheDrive(step.Warnings))
}

// notTheDrive is for the warnings of a step and for those of a whole run. That a run ended
// early or that others were active at its beginning says nothing of a single step: the
// steps concerned have warnings of their own.
func notTheDrive(warnings []record.Warning) string {
	for _, w := range warnings {
		switch w.Code {
		case record.WarnDisturbed, record.WarnCPUBound, record.WarnIOLimited, record.WarnUnmapped, record.WarnPoolSmall,
			record.WarnErrors, record.WarnImpossible:
			return w.Code
		}
	}
	return ""
}
