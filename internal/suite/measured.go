package suite

import (
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// measured converts what fio measured, one step for each of its groups, to the steps of the plan. That is
// one step, whatever the number of targets. For a user's own job it is one for each group, which fio itself
// describes.
func (s Step) measured(groups []record.Step) ([]record.Step, error) {
	if s.own {
		for i := range groups {
			group := &groups[i]
			switch {
			case len(groups) == 1:
				group.Name, group.Series = s.Name, s.Series
			case s.repeat > 0:
				group.Name, group.Series = repeatName(group.Name, s.repeat), group.Name
			}
		}
		return groups, nil
	}
	if len(groups) != len(s.Targets) {
		return nil, fmt.Errorf("fio reports on %d groups of jobs instead of %d", len(groups), len(s.Targets))
	}
	one := groups[0]
	switch {
	case s.beside:
		// The figures are those of the first target, and so are the values that explain them: its job has
		// its own CPU.
		first := groups[0]
		one = together(groups, s.Targets)
		one.Duration, one.Read, one.Write, one.Sync = first.Duration, first.Read, first.Write, first.Sync
		one.UserCPU, one.SystemCPU, one.Depth = first.UserCPU, first.SystemCPU, first.Depth
	case s.parts:
		one = together(groups, s.Targets)
	}
	one.Name, one.Plan, one.Series, one.Workload = s.Name, s.Plan, s.Series, s.Workload
	return []record.Step{one}, nil
}

// direct reports whether the I/O behind a result, given by its index and the number of results, bypassed
// the page cache. If the results do not correspond to fio's groups, the whole job must bypass it.
func (s Step) direct(result, of int) bool {
	if groups := s.Job.DirectGroups(); len(groups) == of {
		return groups[result]
	}
	return s.Job.Direct()
}

// together sums up what was measured on several targets at once.
func together(groups []record.Step, targets []Target) record.Step {
	one := groups[0]
	one.UserCPU, one.SystemCPU, one.Errors, one.Warnings = 0, 0, nil, nil
	var reads, writes, syncs []*record.Result
	var depths []*record.Depth
	for i, g := range groups {
		t := targets[i]
		one.Parts = append(one.Parts, record.Part{Target: t.Path, TargetID: t.ID, Group: t.Group, Read: g.Read, Write: g.Write, Depth: g.Depth})
		depths = append(depths, g.Depth)
		reads, writes, syncs = append(reads, g.Read), append(writes, g.Write), append(syncs, g.Sync)
		one.Duration = max(one.Duration, g.Duration)
		one.UserCPU += g.UserCPU
		one.SystemCPU += g.SystemCPU
		for name, n := range g.Errors {
			if one.Errors == nil {
				one.Errors = map[string]int64{}
			}
			one.Errors[name] += n
		}
		for _, w := range g.Warnings {
			if w.Code == record.WarnDepth {
				w.Text = t.Path + ": " + w.Text
			}
			if !slices.Contains(one.Warnings, w) { // list a warning that all of them have only once
				one.Warnings = append(one.Warnings, w)
			}
		}
	}
	one.Read, one.Write, one.Sync = record.Sum(reads), record.Sum(writes), record.Sum(syncs)
	one.Depth = record.SumDepths(depths)
	return one
}
