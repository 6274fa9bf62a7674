package suite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// ErrUnknown says that there is no suite of a name.
var ErrUnknown = errors.New("no such suite")

// Suite is a named plan that answers one question.
type Suite struct {
	Name string
	// Question is what people want to know when they run it, in one line.
	Question string
	// Parameters are all that can be set, in the order in which they are shown.
	Parameters []Parameter

	plan func(Values, Target) ([]Step, error)
}

// All returns the suites in the order in which they are shown.
func All() []Suite { return []Suite{quick()} }

// Find returns the suite of a name. The error matches ErrUnknown and lists what there is.
func Find(name string) (Suite, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, fmt.Errorf("%w %q: there is %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Step is one fio job of a plan.
type Step struct {
	Name string
	Plan string // "4 KiB random read, depth 1"
	Job  fio.Job
	// Expected is how long it takes when nothing goes wrong.
	Expected time.Duration
	// Writes says what it writes to the target, in a phrase; empty when it only reads.
	Writes string
}

// Plan returns the steps of the suite on a target, in order. Nothing is run or opened.
func (s Suite) Plan(v Values, t Target) ([]Step, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", s.Name, err)
	}
	steps, err := s.plan(v, t)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", s.Name, err)
	}
	for _, step := range steps {
		if err := step.check(t); err != nil {
			return nil, fmt.Errorf("plan %s: step %s: %w", s.Name, step.Name, err)
		}
	}
	return steps, nil
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
func (s Step) check(t Target) error {
	reasons := s.Job.Modifies()
	switch {
	case len(reasons) > 0 && s.Writes == "":
		return fmt.Errorf("it is planned to read, and its job modifies data: %s", strings.Join(reasons, "; "))
	case len(reasons) > 0 && t.Raw:
		return fmt.Errorf("it writes to the raw device %s: %s", t.Path, s.Writes)
	}
	return nil
}
