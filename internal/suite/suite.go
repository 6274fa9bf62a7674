package suite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// ErrUnknown says that there is no suite of a name.
var ErrUnknown = errors.New("no such suite")

// Suite is a named plan that answers one question.
type Suite struct {
	Name string
	// Question is what people want to know when they run it, in one line.
	Question string
	// Does says what is run, in a line or two.
	Does string
	// Replaces is what people type for one of its steps when they do it by hand: command lines of fio, and of
	// tools that prepare the drive for it, joined with "&&". What of it is to differ, such as the depth, is written
	// as one of the values. TestSuitesReplaceWhatGuidesRun holds it against the plan.
	Replaces string
	// Writes says what it writes, in a phrase; empty when it only reads.
	Writes string
	// Parameters are all that can be set, in the order in which they are shown.
	Parameters []Parameter
	// Many says that it takes several targets in one run.
	Many bool

	plan func(Values, []Target) ([]Step, error)
	// rule says when rounds are steady; nil for suites without rounds.
	rule func(Values) analysis.Rule
	// costs says what a cost model is made of; nil for suites without one.
	costs func(Values, Target) analysis.CostOptions
	// doubts are what on the target speaks against the method before anything is measured; may be nil.
	doubts func(Target) []record.Warning
}

// All returns the suites in the order in which they are shown.
func All() []Suite {
	return []Suite{
		quick(), concurrency(), sequentialVsRandom(), depthSweep(), linearRead(), saturate(), singleCore(), scale(),
		cpuSweep(), mixed(), steadyState(), spanSweep(), interrupts(), writeCache(), durableWrite(), model(),
	}
}

// Names returns the names of all suites, in that order.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the suite of a name. The error matches ErrUnknown and lists what there is.
func Find(name string) (Suite, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Suite{}, fmt.Errorf("%w %q: there is %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Step is one fio job of a plan.
type Step struct {
	Name string
	Plan string // "4 KiB random read, depth 1"
	// Series is the name that repeats share; empty when there are none.
	Series string
	// Workload is nil for a user's own job: fio itself describes what it did.
	Workload *record.Workload
	Job      fio.Job
	// Expected is how long it takes when nothing goes wrong.
	Expected time.Duration
	// Limit is when it is taken for hung; 0 leaves that to Expected.
	Limit time.Duration
	// Writes says what it writes to the targets, in a phrase; empty when it only reads.
	Writes string
	// Targets are those that the I/O goes to, all at once.
	Targets []Target
	// Settings of the device that it runs under; what is not named is as before the run.
	Settings []Setting
	// Format has the drive formatted instead of running a job.
	Format bool
	// Optional steps are left out once the rounds before are steady.
	Optional bool

	// parts asks for the share of each target, even of a single one.
	parts bool
	// beside asks for the figures of the first target alone: the others are only loaded.
	beside bool
	// own marks a user's own job, which may be several groups; repeat counts its repeats from 1, 0 when there are none.
	own    bool
	repeat int
}

// Setting is a setting of the device and its value.
type Setting struct {
	Name  settings.Name
	Value string
}

// Plan returns the steps of the suite on its targets, in order. Nothing is run or
// opened. A plan that writes is refused unless every target allows it: a raw device
// by its Permission.
func (s Suite) Plan(v Values, targets ...Target) ([]Step, error) {
	all, err := s.sketch(v, targets)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", s.Name, err)
	}
	for _, step := range all {
		if err := step.check(); err != nil {
			return nil, fmt.Errorf("plan %s: step %s: %w", s.Name, step.Name, err)
		}
	}
	return all, nil
}

// sketch is a plan that is not yet known to be allowed.
func (s Suite) sketch(v Values, targets []Target) ([]Step, error) {
	switch {
	case len(targets) == 0:
		return nil, errors.New("no target")
	case len(targets) > 1 && !s.Many:
		return nil, fmt.Errorf("%d targets: it takes one", len(targets))
	}
	for _, t := range targets {
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	return s.plan(v, targets)
}

// Expected is how long the steps take together.
func Expected(steps []Step) time.Duration {
	var sum time.Duration
	for _, s := range steps {
		sum += s.Expected
	}
	return sum
}

// check keeps a plan from writing where it must not.
func (s Step) check() error {
	if s.Format && !s.Targets[0].Permission.Formats() {
		return errors.New("it would format the drive, but --format and its serial number were not given to permit that")
	}
	reasons := s.Job.Modifies()
	if len(reasons) == 0 && !s.Format {
		return nil
	}
	if s.Writes == "" {
		return fmt.Errorf("it should only read, but its job modifies data: %s", strings.Join(reasons, "; "))
	}
	for _, t := range s.Targets {
		if err := t.checkWrite(); err != nil {
			return err
		}
	}
	return nil
}
