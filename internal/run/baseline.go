package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// kindBaselines is where the state directory keeps the reports that later runs of
// the same suite on the same target are compared with.
const kindBaselines = "run-baselines"

// ErrUnfit says that a run is no reference for later ones.
var ErrUnfit = errors.New("this run cannot be used as a baseline")

// SaveBaseline makes r what later runs of its suite on its target are compared
// with. A run that measured something else than the drive is refused: ErrUnfit.
func SaveBaseline(s *store.Store, r record.RunReport) error {
	if len(r.Steps) == 0 {
		return fmt.Errorf("%w: it has no steps", ErrUnfit)
	}
	warnings := slices.Clone(r.Warnings)
	for _, step := range r.Steps {
		if step.Read == nil && step.Write == nil {
			return fmt.Errorf("%w: step %s measured nothing", ErrUnfit, step.Name)
		}
		warnings = append(warnings, step.Warnings...)
	}
	for _, w := range warnings {
		switch w.Code {
		case record.WarnShort, record.WarnDisturbed, record.WarnIOLimited, record.WarnUnmapped, record.WarnPoolSmall, record.WarnErrors,
			record.WarnImpossible:
			return fmt.Errorf("%w: %s", ErrUnfit, w.Text)
		}
	}
	return s.Save(kindBaselines, baselineName(r.Suite, r.TargetID), r)
}

// LoadBaseline returns the saved run of a suite on a target, false when there is none.
func LoadBaseline(s *store.Store, suite, targetID string) (record.RunReport, bool, error) {
	var r record.RunReport
	found, err := s.Load(kindBaselines, baselineName(suite, targetID), &r)
	if found && r.Version > record.RunReportVersion {
		return r, false, fmt.Errorf("saved run of %s: %w", suite, store.ErrNewer)
	}
	return r, found, err
}

// Baselines returns all saved runs. What could not be read is joined in the error.
func Baselines(s *store.Store) ([]record.RunReport, error) {
	names, err := s.Names(kindBaselines)
	problems := []error{err}
	var runs []record.RunReport
	for _, name := range names {
		suite, target, _ := strings.Cut(name, " ")
		r, found, err := LoadBaseline(s, suite, target)
		problems = append(problems, err)
		if found {
			runs = append(runs, r)
		}
	}
	return runs, errors.Join(problems...)
}

// RemoveBaseline forgets the saved run of a suite on a target.
func RemoveBaseline(s *store.Store, suite, targetID string) error {
	return s.Remove(kindBaselines, baselineName(suite, targetID))
}

// baselineName is unique since names of suites have no spaces.
func baselineName(suite, targetID string) string { return suite + " " + targetID }
