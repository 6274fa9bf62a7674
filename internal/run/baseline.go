package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// ErrUnfit says that a run is no reference for later ones.
var ErrUnfit = errors.New("this run cannot be used as a baseline")

// SaveBaseline makes r what later runs of its suite on its target are compared
// with. A run that measured something else than the drive is refused: ErrUnfit.
func SaveBaseline(d state.Dir, r record.RunReport) error {
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
	return d.SaveRunBaseline(r)
}
