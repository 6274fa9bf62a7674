package analysis

import (
	"cmp"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// result is one direction of a step.
type result struct {
	direction record.Direction
	record.Result
}

// results returns the directions in which a step did I/O.
func results(s record.Step) []result {
	var all []result
	if s.Read != nil {
		all = append(all, result{record.Read, *s.Read})
	}
	if s.Write != nil {
		all = append(all, result{record.Write, *s.Write})
	}
	return all
}

// iopsOf and bytesOf return the combined rate of both directions.
func iopsOf(s record.Step) float64 {
	var sum float64
	for _, r := range results(s) {
		sum += r.IOPS
	}
	return sum
}

func bytesOf(s record.Step) float64 {
	var sum float64
	for _, r := range results(s) {
		sum += r.BytesPerSecond
	}
	return sum
}

// rateOf returns the rate by which a workload is usually stated: IOPS for random workloads, bytes per second
// for sequential ones.
func rateOf(w record.Workload, s record.Step) (rate float64, unit string) {
	if w.Pattern == record.Sequential {
		return bytesOf(s), "B/s"
	}
	return iopsOf(s), "IOPS"
}

// complete returns the steps that have a result.
func complete(steps []record.Step) []record.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return !s.Measured() })
}

// calm returns the steps that have a result, without the spoiled repeats of loads that have a repeat that may decide.
func calm(steps []record.Step) []record.Step {
	all := complete(steps)
	load := func(s record.Step) string { return cmp.Or(s.Series, s.Name) }
	var decided []string
	for _, s := range all {
		if s.Spoiled() == "" {
			decided = append(decided, load(s))
		}
	}
	return slices.DeleteFunc(all, func(s record.Step) bool { return s.Spoiled() != "" && slices.Contains(decided, load(s)) })
}

// addSpoiled adds the code of the warning that disqualifies a step to codes, if there is one.
func addSpoiled(codes []string, s record.Step) []string {
	if code := s.Spoiled(); code != "" {
		return distinct(codes, []string{code})
	}
	return codes
}

// distinct returns the codes of both lists in order; nil when there are none.
func distinct(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// decide separates the steps that may decide from the rest, and returns the codes of the warnings that
// disqualify the rest.
func decide(steps []record.Step) (deciding, rest []record.Step, codes []string) {
	for _, s := range steps {
		code := s.Spoiled()
		if code == "" {
			deciding = append(deciding, s)
			continue
		}
		rest, codes = append(rest, s), append(codes, code)
	}
	slices.Sort(codes)
	return deciding, rest, slices.Compact(codes)
}

func warned(s record.Step, code string) bool {
	return slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Code == code })
}
