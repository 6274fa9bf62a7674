package state

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// startFormat is how the name of a report ends: its start in UTC.
const startFormat = "20060102T150405.000"

// runPrefix is the prefix of the names of all reports of a suite on a target. The start
// time follows, so that names sort by age.
func runPrefix(suite, target string) string { return suite + " " + target + " " }

// KeepRun stores a report and drops the oldest others beyond keep. The clock may have been set back since those.
func (d Dir) KeepRun(r record.RunReport, keep int) error {
	kept := runPrefix(r.Suite, r.TargetID) + r.Started.UTC().Format(startFormat)
	if err := d.Save(kindRuns, kept, r); err != nil {
		return err
	}
	names, err := d.RunsLike(r)
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

// RunsLike lists the stored reports of the suite and target of a run, oldest first.
func (d Dir) RunsLike(r record.RunReport) ([]string, error) {
	prefix := runPrefix(r.Suite, r.TargetID)
	return d.runsNamed(func(name string) bool { return hasTime(name, prefix) })
}

// runsOf lists the reports of all suites on a target, by suite, oldest first.
func (d Dir) runsOf(id string) ([]string, error) {
	return d.runsNamed(func(name string) bool {
		_, rest, _ := strings.Cut(name, " ")
		return hasTime(rest, id+" ")
	})
}

// runsNamed lists the reports with wanted names, sorted. It does not read them: a node may have thousands. Reports of
// the future come first: a clock that was ahead dated them, so they are the oldest.
func (d Dir) runsNamed(wanted func(name string) bool) ([]string, error) {
	names, err := d.Names(kindRuns)
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
	return append(future, past...), err
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
	runs, err := d.LastRuns(id)
	problems := []error{err}
	for i := range runs {
		names, err := d.RunsLike(*runs[i].Last)
		problems = append(problems, err, CompareLast(&runs[i], names, d.Run))
	}
	return runs, errors.Join(problems...)
}

// LastRuns returns the last report of each suite on a target, for CompareLast. It reads no others: that may take longer
// than the start of a watch may wait. The error joins what could not be read.
func (d Dir) LastRuns(id string) ([]record.RunStatus, error) {
	names, err := d.runsOf(id)
	problems := []error{err}
	last := map[string]*record.RunReport{}
	for _, name := range slices.Backward(names) {
		suite, _, _ := strings.Cut(name, " ")
		if last[suite] == nil {
			last[suite], err = d.Run(name)
			problems = append(problems, err)
		}
	}
	var runs []record.RunStatus
	for _, suite := range slices.Sorted(maps.Keys(last)) {
		if last[suite] == nil { // no report could be read
			continue
		}
		status := record.NewRunStatus(suite)
		status.Last = last[suite]
		if status.Last.Complete() {
			status.Complete = status.Last.Finished
		}
		runs = append(runs, status)
	}
	return runs, errors.Join(problems...)
}

// Run loads a report that RunsLike lists; nil if it is no longer there or cannot be read.
func (d Dir) Run(name string) (*record.RunReport, error) {
	r := new(record.RunReport)
	if found, err := d.Load(kindRuns, name, r); !found {
		return nil, err
	}
	return r, nil
}

// CompareLast compares the last run in a status with the reports that RunsLike lists, and finds out when the last complete
// one ended, if the status does not say so. load loads a report. The error joins what could not be read. A directory that
// hangs leaves the status as it was.
func CompareLast(status *record.RunStatus, names []string, load func(name string) (*record.RunReport, error)) error {
	var problems []error
	var earlier []record.RunReport
	complete := status.Complete
	for _, name := range names {
		r, err := load(name)
		if guard.Hangs(err) {
			return err
		}
		problems = append(problems, err)
		if r == nil {
			continue
		}
		earlier = append(earlier, *r)
		if r.Complete() && status.Complete.IsZero() {
			complete = r.Finished
		}
	}
	status.Comparison, status.Complete = compare.History(*status.Last, earlier), complete
	return errors.Join(problems...)
}
