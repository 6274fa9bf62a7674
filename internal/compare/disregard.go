package compare

import (
	"cmp"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Disregarded returns how many steps of a run may not decide a comparison, and the codes of
// the warnings that disqualify them.
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

// MoreRepeats returns how many repeats a run needs on each side so that a comparison can find
// small changes. It is 0 when the run has that many, or when its suite has no repeats.
func MoreRepeats(r record.RunReport) int {
	all := loads(r)
	enough := repeatsFor(max(1, len(all)))
	few := slices.ContainsFunc(all, func(l load) bool { return len(l.results) < enough })
	if r.Unrepeatable || !few {
		return 0
	}
	return enough
}

// repeatsFor returns how many repeats each side needs so that a test of one load can succeed when so many loads share
// confidence.Alpha.
func repeatsFor(loads int) int {
	n := 1
	for confidence.LeastChance(n, n) > confidence.Alpha/float64(loads) {
		n++
	}
	return n
}

// disregarded returns the code of the first warning that disqualifies a step of a run from
// deciding: the step measured something other than the drive, or only a part of its load. It
// is empty when the step may decide.
func disregarded(r record.RunReport, step record.Step) string {
	return cmp.Or(step.Spoiled(), notTheDrive(r.Warnings), notTheDrive(step.Warnings))
}

// notTheDrive returns the code of the first warning, of a step or of a whole run, by which
// something other than the drive was measured; empty when there is none. It ignores that a run
// ended early or that others were active when it began, because the steps concerned have
// warnings of their own.
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
