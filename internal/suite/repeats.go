package suite

import (
	"slices"
	"strconv"
)

// repeatsParameter is the name of the parameter that repeatsKnob declares.
const repeatsParameter = "repeats"

// MostRepeats is the most that the parameter repeats accepts.
const MostRepeats = 1000

func repeatsKnob(s *Suite, fallback int) knob[int] {
	return declare(s, repeatsParameter, "how often everything is measured", fallback, count(1, MostRepeats))
}

// Repeatable reports whether one run of the suite can measure everything several times.
func (s Suite) Repeatable() bool {
	return slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == repeatsParameter })
}

// repeated repeats the steps of a plan. All steps are run once before any is repeated, so
// that drift affects them alike. Repeats count from 1; if there is only one, it is 0.
func repeated(repeats int, plan func(repeat int) ([]Step, error)) ([]Step, error) {
	if repeats == 1 {
		return plan(0)
	}
	var all []Step
	for repeat := 1; repeat <= repeats; repeat++ {
		once, err := plan(repeat)
		if err != nil {
			return nil, err
		}
		all = append(all, once...)
	}
	return all, nil
}

// repeatName returns the name of a repeat of the step series.
func repeatName(series string, repeat int) string { return series + "-repeat" + strconv.Itoa(repeat) }
