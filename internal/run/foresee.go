package run

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Foreseen is what a run would meet now.
type Foreseen struct {
	// Steps are those of the run.
	Steps []suite.DryStep
	// Refusals would each end the run before it begins; the first one is that which a run would end with.
	Refusals []error
	// Notes say which files would be made, used again or replaced.
	Notes []string
}

// Foresee looks at everything that a run of a suite looks at before it begins, and
// changes nothing: files are not made, and a raw device that is to be overwritten is
// opened for reading, exclusively and for a moment. Whether another ssdprobe
// measures just now is not asked. The error is that there is no plan; what was found to
// refuse the run before is there with it.
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
		case writes:
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

// file says what would become of a target that is a file, and takes over its size.
func (f *Foreseen) file(t *suite.Target, s measure.Subject, writes bool) error {
	path := t.Path
	if writes {
		place, leftover, err := writePlace(s.Path)
		if err != nil {
			return err
		}
		if leftover {
			f.note("would replace %s, which a run that was killed has left", place)
			t.Path = place
			return nil // what it takes is there
		}
		path = place
	}
	planned, err := planFile(t, s.Path, path, s.FileBytes)
	switch {
	case err != nil || planned.Path == "": // somebody's own file is used as it is
		return err
	case planned.Reused:
		f.note("would use %s of %d MiB, which is there", planned.Path, planned.SizeBytes>>20)
		return nil
	}
	f.note("would make %s of %d MiB", planned.Path, planned.SizeBytes>>20)
	return safety.CheckSpace(planned.Path, planned.SizeBytes)
}
