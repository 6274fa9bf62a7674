package state

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// startFormat is how the name of a report ends: its start in UTC.
const startFormat = "20060102T150405.000"

// runPrefix is the prefix of the names of all reports of a suite on a target. The start
// time follows, so that names sort by age.
func runPrefix(suite, target string) string { return suite + " " + target + " " }

// KeepRun stores a report and drops the oldest others beyond keep. The clock may have been set back since those.
func (d Dir) KeepRun(r record.RunReport, keep int) error {
	prefix := runPrefix(r.Suite, r.TargetID)
	kept := prefix + r.Started.UTC().Format(startFormat)
	if err := d.Save(kindRuns, kept, r); err != nil {
		return err
	}
	names, err := d.runNames(prefix)
	problems := []error{err}
	names = append(slices.DeleteFunc(names, func(name string) bool { return name == kept }), kept)
	for len(names) > keep {
		problems = append(problems, d.Remove(kindRuns, names[0]))
		names = names[1:]
	}
	return errors.Join(problems...)
}

// hasTime reports whether a name is a prefix and a time. The path of another target may be longer by a space and more.
func hasTime(name, prefix string) bool {
	started, found := strings.CutPrefix(name, prefix)
	return found && started != "" && !strings.Contains(started, " ")
}

// runNames lists the reports with this prefix, oldest first.
func (d Dir) runNames(prefix string) ([]string, error) {
	return d.runsNamed(func(name string) bool { return hasTime(name, prefix) })
}

// runsOf lists the reports of all suites on a target, by suite, oldest first.
func (d Dir) runsOf(id string) ([]string, error) {
	return d.runsNamed(func(name string) bool {
		_, rest, _ := strings.Cut(name, " ")
		return hasTime(rest, id+" ")
	})
}

// runsNamed lists the reports with wanted names, sorted, and sets the damaged ones aside. It reads no others, of which a
// node may have thousands. Reports of the future come first: a clock that was ahead dated them, so they are the oldest.
func (d Dir) runsNamed(wanted func(name string) bool) ([]string, error) {
	only := d.Only(wanted)
	aside := only.SetDamagedAside(kindRuns)
	names, err := only.Names(kindRuns)
	names = slices.DeleteFunc(names, func(name string) bool { return !wanted(name) })
	slices.Sort(names)
	now := time.Now().UTC().Format(startFormat)
	var future, past []string
	for _, name := range names {
		if started := name[strings.LastIndex(name, " ")+1:]; started > now {
			future = append(future, name)
		} else {
			past = append(past, name)
		}
	}
	return append(future, past...), errors.Join(aside, err)
}

// removeRuns removes the reports of all suites on a target.
func (d Dir) removeRuns(id string) error {
	names, err := d.runsOf(id)
	problems := []error{err}
	for _, name := range names {
		problems = append(problems, d.Remove(kindRuns, name))
	}
	return errors.Join(problems...)
}

// Runs returns the last report of each suite on a target, compared with earlier ones.
// The error joins what could not be read.
func (d Dir) Runs(id string) ([]record.RunStatus, error) {
	names, err := d.runsOf(id)
	problems := []error{err}
	bySuite := map[string][]string{} // the latest first
	for _, name := range slices.Backward(names) {
		suite, _, _ := strings.Cut(name, " ")
		bySuite[suite] = append(bySuite[suite], name)
	}
	var runs []record.RunStatus
	for _, suite := range slices.Sorted(maps.Keys(bySuite)) {
		status := record.NewRunStatus(suite)
		for _, name := range bySuite[suite] {
			var r record.RunReport
			found, err := d.Load(kindRuns, name, &r)
			problems = append(problems, err)
			if !found {
				continue
			}
			if status.Last == nil {
				status.Last = &r
				status.Comparison, err = d.Compared(r)
				problems = append(problems, err)
			}
			if r.Complete() {
				status.Complete = r.Finished
				break
			}
		}
		if status.Last != nil {
			runs = append(runs, status)
		}
	}
	return runs, errors.Join(problems...)
}

// Compared compares a run with the stored runs of the same suite and target.
func (d Dir) Compared(r record.RunReport) (*record.Comparison, error) {
	names, err := d.runNames(runPrefix(r.Suite, r.TargetID))
	problems := []error{err}
	var earlier []record.RunReport
	for _, name := range names {
		var one record.RunReport
		found, err := d.Load(kindRuns, name, &one)
		problems = append(problems, err)
		if found {
			earlier = append(earlier, one)
		}
	}
	return compare.History(r, earlier), errors.Join(problems...)
}
