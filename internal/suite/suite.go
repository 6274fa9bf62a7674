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

// ErrUnknown says that no suite has the given name.
var ErrUnknown = errors.New("no such suite")

// Suite is a named plan that answers one question.
type Suite struct {
	Name string
	// Question is the user's question that it answers, in one line.
	Question string
	// Does describes what is run, in a line or two.
	Does string
	// Replaces is what people type when they run one of its steps by hand: command lines of fio, and of tools that
	// prepare the drive for it, joined with "&&". For a parameter with several values, such as the depth, it has one of
	// them. TestSuitesReplaceWhatGuidesRun compares it with the plan.
	Replaces string
	// Writes describes what it writes, in a phrase; empty if it only reads.
	Writes string
	// Parameters are all its parameters, in the order in which they are shown.
	Parameters []Parameter
	// Many is true if it accepts several targets in one run.
	Many bool

	plan func(Values, []Target) ([]Step, error)
	// rule returns when rounds count as steady; nil for suites without rounds.
	rule func(Values) analysis.Rule
	// refuse says which values contradict one another on any target; nil if none can.
	refuse func(Values) error
	// costs returns the inputs of a cost model; nil for suites without one.
	costs func(Values, Target) analysis.CostOptions
	// doubts returns what is known to speak against the method on a target before anything is measured; may be nil.
	doubts func(Target) []record.Warning
}

// All returns the suites in the order in which they are shown.
func All() []Suite {
	return []Suite{
		quick(), concurrency(), sequentialVsRandom(), depthSweep(), linearRead(), saturate(), singleCore(), scale(),
		cpuSweep(), mixed(), steadyState(), spanSweep(), interrupts(), writeCache(), durableWrite(), model(),
	}
}

// Names returns the names of all suites, in the same order.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the suite with the given name. The error matches ErrUnknown and lists all names.
func Find(name string) (Suite, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Suite{}, fmt.Errorf("%w %q: there is %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Step is one step of a plan: a fio job, or a format of the drive.
type Step struct {
	Name string
	Plan string // "4 KiB random read, depth 1"
	// Series is the name that all repeats share; empty if there are none.
	Series string
	// Workload is nil for a user's own job: fio itself describes what it did.
	Workload *record.Workload
	Job      fio.Job
	// Expected is how long the step takes if nothing goes wrong; 0 if unknown.
	Expected time.Duration
	// Limit is the time after which the step counts as hung; 0 means that it depends on Expected.
	Limit time.Duration
	// Idle is how long the step may complete no I/O before it counts as hung; if it is set, Limit does not apply.
	Idle time.Duration
	// Writes describes what the step writes to the targets, in a phrase; empty if it only reads.
	Writes string
	// Targets are the targets of the I/O, all at once.
	Targets []Target
	// Settings are the device settings for this step. Settings not named here have the value from before the run.
	Settings []Setting
	// Format has the drive formatted instead of running a job.
	Format bool
	// Optional steps are skipped once the preceding rounds are steady.
	Optional bool

	// jobFile is Job as text.
	jobFile string
	// parts requests the results of each target, even of a single one.
	parts bool
	// beside requests the figures of the first target only: the others are merely loaded.
	beside bool
	// own marks a user's own job, which may have several groups; repeat counts its repeats from 1, and is 0 if there
	// are none.
	own    bool
	repeat int
}

// Setting is a setting of the device and its value.
type Setting struct {
	Name  settings.Name
	Value string
}

// Plan returns the steps of the suite on its targets, in order. It does not run or open anything. A plan that writes is
// refused unless every target allows it: a raw device by its Permission.
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

// sketch returns a plan that fio would understand, without checking that it is allowed.
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
	steps, err := s.plan(v, targets)
	for i := range steps {
		if step := &steps[i]; !step.Format && err == nil {
			step.jobFile, err = step.Job.Render()
		}
	}
	if err != nil {
		return nil, err
	}
	return steps, nil
}

// Expected returns how long the steps take together.
func Expected(steps []Step) time.Duration {
	var sum time.Duration
	for _, s := range steps {
		sum += s.Expected
	}
	return sum
}

// check returns an error if the step would write where it must not.
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
