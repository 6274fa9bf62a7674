package run

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Foreseen is what a run would encounter now.
type Foreseen struct {
	// Steps are the steps of the run.
	Steps []suite.DryStep
	// Refusals would each prevent the run. A run would fail with the first one.
	Refusals []error
	// Notes say which files would be made, reused or replaced.
	Notes []string
}

// Foresee makes all checks that a run of a suite makes before it begins, and changes nothing: no files
// are made, and raw devices are only opened for reading, one to be overwritten exclusively and briefly. It
// does not check whether another ssdprobe is measuring right now. An error means that there is no plan;
// Foreseen then has the refusals found before.
func Foresee(ctx context.Context, fs sysfs.FS, subjects []measure.Subject, chosen Suite, limits admit.Limits) (Foreseen, error) {
	var f Foreseen
	busy := make([]error, len(subjects))
	var looking errgroup.Group
	for i, s := range subjects {
		looking.Go(func() error {
			err := checkLoad(ctx, fs, s.Number, limits)
			if errors.Is(err, admit.ErrBusy) {
				busy[i], err = fmt.Errorf("%s: %w", s.Path, err), nil
			}
			return err
		})
	}
	err := looking.Wait()
	for _, b := range busy {
		f.refuse(b)
	}
	if err != nil {
		return f, err
	}
	targets, writes, err := chosen.targets(fs, subjects)
	if err != nil {
		return f, err
	}
	var impossible *PlanError
	if err := chosen.possible(ctx, fs, targets); errors.As(err, &impossible) {
		return f, err
	} else {
		f.refuse(err)
	}
	for i, s := range subjects {
		var err error
		switch t := &targets[i]; {
		case !t.Raw:
			err = f.file(t, s, writes)
		case !writes:
			var why string
			if why, err = measure.Denied(ctx, &guard.Guard{}, t.Path, t.Device.Number); why != "" {
				err = fmt.Errorf("open %s: %s", t.Path, why)
			}
		default:
			var permission safety.Permission
			permission, err = chosen.permit(ctx, fs, *t)
			if note := permission.Note(); note != "" {
				f.note("%s: %s", t.Path, note)
			}
		}
		f.refuse(err)
	}
	if f.Steps, err = chosen.DryRun(chosen.Values, ByRoot(targets)...); err != nil {
		err = &PlanError{chosen.Name, err}
	}
	return f, err
}

func (f *Foreseen) refuse(err error) {
	if err != nil {
		f.Refusals = append(f.Refusals, err)
	}
}

func (f *Foreseen) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// file says what would become of a target that is a file, and sets its planned size.
func (f *Foreseen) file(t *suite.Target, s measure.Subject, writes bool) error {
	path := t.Path
	if writes {
		place, leftover, err := writePlace(s.Path)
		if err != nil {
			return err
		}
		if leftover {
			f.note("would replace %s, left by a run that was killed", place)
			t.Path = place
			return nil // its space is allocated already
		}
		path = place
	}
	planned, err := planFile(t, s.Path, path, s.FileBytes)
	switch {
	case err != nil || planned.Path == "": // a file that ssdprobe did not make is used as it is
		return err
	case planned.Reused:
		f.note("would use %s of %d MiB, which exists", planned.Path, planned.SizeBytes>>20)
		return nil
	}
	f.note("would make %s of %d MiB", planned.Path, planned.SizeBytes>>20)
	return safety.CheckSpace(planned.Path, planned.SizeBytes)
}
