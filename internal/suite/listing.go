package suite

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/device"
)

// Description describes a suite in a list.
type Description struct {
	Name       string      `json:"name"`
	Question   string      `json:"question"`
	Does       string      `json:"does"`
	Replaces   string      `json:"replaces"` // the command that people use instead of one of its steps
	Writes     string      `json:"writes,omitempty"`
	Parameters []Parameter `json:"parameters"`
	Many       bool        `json:"many,omitempty"` // accepts several targets
	// Expected is about how long it takes with its defaults, on a file of 20 GB and a machine of
	// 8 cores.
	Expected time.Duration `json:"expected_ns"`
}

// Nominal returns a target that stands for those that are not known yet: a file or a raw device of 20 GB, on a machine of
// 8 cores.
func Nominal(raw bool) Target {
	cores := []device.NodeCPUs{{CPUSet: device.CPUSet{CPUs: []int{0, 1, 2, 3, 4, 5, 6, 7}, Cores: 8}}}
	return Target{Path: "/", Raw: raw, SizeBytes: 20e9, Nodes: cores}
}

// Describe returns all suites in the order in which they are shown.
func Describe() ([]Description, error) {
	var all []Description
	for _, s := range All() {
		steps, err := s.sketch(Values{}, []Target{Nominal(false)})
		if err != nil {
			return nil, err
		}
		all = append(all, Description{
			Name: s.Name, Question: s.Question, Does: s.Does, Replaces: s.Replaces, Writes: s.Writes, Parameters: s.Parameters, Many: s.Many,
			Expected: Expected(steps),
		})
	}
	return all, nil
}

// WritesTo reports whether the suite with these values writes to its targets.
func (s Suite) WritesTo(v Values, targets ...Target) (bool, error) {
	steps, err := s.sketch(v, targets)
	for _, step := range steps {
		if step.Writes != "" {
			return true, nil
		}
	}
	return false, err
}

// Shortest returns how long the suite takes if nothing goes wrong and no step that may be skipped is needed.
func (s Suite) Shortest(v Values, targets ...Target) (time.Duration, error) {
	steps, err := s.sketch(v, targets)
	return Expected(slices.DeleteFunc(steps, func(step Step) bool { return step.Optional })), err
}

// DryStep is a step of a plan that will not be run.
type DryStep struct {
	Name     string            `json:"name"`
	Series   string            `json:"series,omitempty"` // the name that all repeats share
	Plan     string            `json:"plan"`
	Writes   string            `json:"writes,omitempty"`
	Expected time.Duration     `json:"expected_ns"`
	Settings map[string]string `json:"settings,omitempty"`
	// Optional steps are skipped once the preceding rounds are steady.
	Optional bool   `json:"optional,omitempty"`
	JobFile  string `json:"job_file"`
}

// DryRun returns what the suite would run, as text. Nothing in it can be executed, so it needs no
// permission.
func (s Suite) DryRun(v Values, targets ...Target) ([]DryStep, error) {
	steps, err := s.sketch(v, targets)
	if err != nil {
		return nil, err
	}
	all := make([]DryStep, len(steps))
	for i, step := range steps {
		all[i] = DryStep{Name: step.Name, Series: step.Series, Plan: step.Plan, Writes: step.Writes, Expected: step.Expected, Optional: step.Optional, JobFile: step.jobFile}
		for _, setting := range step.Settings {
			if all[i].Settings == nil {
				all[i].Settings = map[string]string{}
			}
			all[i].Settings[string(setting.Name)] = setting.Value
		}
	}
	return all, nil
}
