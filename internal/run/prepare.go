package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// writeFileName is what a file is called that a suite writes to: one of its own, as
// the daemon's has to keep what was written to it.
const writeFileName = "ssdprobe-write.dat"

// prepare makes targets of the sessions' subjects, and says what is to be warned of: what is to be written to is
// permitted before anything is opened or filled.
func prepare(ctx context.Context, sessions []*Session, chosen Suite) ([]suite.Target, []record.Warning, error) {
	subjects := make([]measure.Subject, len(sessions))
	for i, s := range sessions {
		subjects[i] = s.subject
	}
	targets, writes, err := chosen.targets(sessions[0].options.FS, subjects)
	if err != nil {
		return nil, nil, err
	}
	if err := chosen.possible(ctx, sessions[0].options.FS, targets); err != nil {
		return nil, nil, err
	}
	for i, s := range sessions {
		if !writes {
			break
		}
		if err := s.allowWrites(ctx, &targets[i], chosen); err != nil {
			return nil, nil, err
		}
	}
	for i, s := range sessions {
		if targets[i].Raw {
			continue
		}
		path := targets[i].Path
		if writes {
			path = s.subject.Path
		}
		if _, err := planFile(&targets[i], s.subject.Path, path, s.subject.FileBytes); err != nil && !errors.Is(err, target.ErrForeign) {
			return nil, nil, err
		}
	}
	if _, err := chosen.WritesTo(chosen.Values, targets...); err != nil { // with the sizes that files will have
		return nil, nil, &PlanError{chosen.Name, err}
	}
	warnings := make([][]record.Warning, len(sessions))
	for i, s := range sessions {
		found, err := s.fill(ctx, &targets[i], writes)
		if err != nil {
			return nil, nil, err
		}
		warnings[i] = slices.Concat(s.subject.Warnings, s.warnings, found)
	}
	return ByRoot(targets), joined(targets, warnings), nil
}

// joined are the warnings of all targets, each once: with its target, unless it holds for all of them.
func joined(targets []suite.Target, of [][]record.Warning) []record.Warning {
	var all []record.Warning
	for i, t := range targets {
		for _, w := range of[i] {
			if slices.ContainsFunc(of, func(other []record.Warning) bool { return !slices.Contains(other, w) }) {
				w.Text = t.Path + ": " + w.Text
			}
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// allowWrites gets the permission for a raw device, and a file of its own for others.
func (s *Session) allowWrites(ctx context.Context, t *suite.Target, chosen Suite) error {
	if t.Raw {
		permission, err := chosen.permit(ctx, s.options.FS, *t)
		t.Permission = permission
		if note := permission.Note(); note != "" && s.options.Note != nil {
			s.options.Note(t.Path + ": " + note)
		}
		return err
	}
	path, leftover, err := writePlace(s.subject.Path)
	if err != nil {
		return err
	}
	if leftover {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	s.subject.Path = path
	s.options.KeepFile = false // what is in it is no longer what ssdprobe expects
	return nil
}

// permit asks for the permission to overwrite a raw device, with what the user typed.
func (s Suite) permit(ctx context.Context, fs sysfs.FS, t suite.Target) (safety.Permission, error) {
	var more []safety.Consent
	if s.DestroyUnknownData {
		more = append(more, safety.UnknownData)
	}
	if s.Format {
		more = append(more, safety.Format)
	}
	return safety.Permit(ctx, fs, t.Path, t.Device, typedFor(t.Device, s.Destroy), more...)
}

// typedFor is what the user typed for a device: its own name, or else anything.
func typedFor(d record.Device, destroy []string) string {
	switch name := safety.Name(d); {
	case slices.Contains(destroy, name):
		return name
	case len(destroy) > 0:
		return destroy[0]
	}
	return ""
}

// writePlace returns the file that is made to be written to: in the directory at path,
// or there when nothing is. leftover says that one is there, which a run that was killed has left.
func writePlace(path string) (place string, leftover bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return path, false, nil
	case err != nil:
		return "", false, err
	case !info.IsDir():
		return "", false, fmt.Errorf("%w to write to %s: it exists; name a directory, in which a file is made", safety.ErrRefused, path)
	}
	place = filepath.Join(path, writeFileName)
	info, err = os.Lstat(place)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return place, false, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%w to write to %s: it is no regular file", safety.ErrRefused, place)
	}
	return place, true, nil
}

// planFile takes over what a target that is a file would be when it is opened: one that is
// there, or one that is made. A file of somebody else's is used in its size if it was named
// itself.
func planFile(t *suite.Target, named, path string, bytes int64) (target.Plan, error) {
	planned, err := target.PlanFile(path, bytes)
	switch {
	case errors.Is(err, target.ErrForeign) && path == named:
		info, err := os.Stat(path)
		if err == nil {
			t.OffsetBytes, t.SizeBytes = 0, info.Size()
		}
		return planned, err
	case err == nil:
		t.Path = planned.Path
		t.OffsetBytes, t.SizeBytes = target.DataOf(planned.SizeBytes)
	}
	return planned, err
}

// fill opens the target, which fills a file, and looks whether what is to be read was
// ever written.
func (s *Session) fill(ctx context.Context, t *suite.Target, writes bool) ([]record.Warning, error) {
	s.options.Guard = &guard.Guard{}
	opened, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	var warnings []record.Warning
	if !writes || !t.Raw {
		warnings, err = s.checkWritten(ctx, opened)
	}
	if opened.Small.Code != "" {
		warnings = append(warnings, opened.Small)
	}
	if err := errors.Join(err, opened.Close()); err != nil { // fio opens it by itself
		return nil, err
	}
	t.Path, t.OffsetBytes, t.SizeBytes = opened.Path, opened.Area.Start, opened.Area.Size
	t.Reused = !t.Raw && opened.Filled == 0
	t.ReadOnly = opened.ReadOnly || writes && !t.Raw && opened.Filled == 0
	return warnings, nil
}
