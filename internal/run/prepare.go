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

// writeFileName is the name of the file that a suite writes to. The suite has its own file because the daemon's
// file must keep the content that was written to it.
const writeFileName = "ssdprobe-write.dat"

// prepare turns the sessions' subjects into targets, and returns warnings about them. Permission to write is
// obtained before anything is opened or filled.
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
	if _, err := chosen.WritesTo(chosen.Values, targets...); err != nil { // with the sizes that the files will have
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

// joined returns the distinct warnings of all targets. A warning names its target unless all of them have it.
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

// allowWrites obtains the permission for a raw device, or chooses a separate file to write to.
func (s *Session) allowWrites(ctx context.Context, t *suite.Target, chosen Suite) error {
	if t.Raw {
		permission, err := chosen.permit(ctx, s.options.FS, *t)
		t.Permission = permission
		if note := permission.Note(); note != "" {
			s.note("%s: %s", t.Path, note)
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
		s.note("removed %s, which was left by a run that was killed", path)
	}
	s.subject.Path = path
	if s.options.KeepFile { // its content will no longer be what ssdprobe expects
		s.options.KeepFile = false
		s.note("%s will be removed all the same, because the suite writes to it", path)
	}
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

// typedFor returns what the user typed for a device: its own name, or else the first name typed.
func typedFor(d record.Device, destroy []string) string {
	switch name := safety.Name(d); {
	case slices.Contains(destroy, name):
		return name
	case len(destroy) > 0:
		return destroy[0]
	}
	return ""
}

// writePlace returns the file to make for writing: in the directory at path, or path itself if nothing exists
// there. leftover says that the file exists already, left by a run that was killed.
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
		return "", false, fmt.Errorf("%w to write to %s: it is not a regular file", safety.ErrRefused, place)
	}
	switch ours, err := target.IsOurs(place); {
	case err != nil:
		return "", false, err
	case !ours:
		return "", false, fmt.Errorf("%w to write to %s: ssdprobe did not make it; remove it, or name another directory", safety.ErrRefused, place)
	}
	return place, true, isUsed(place)
}

// planFile sets the path and size that a target will have when it is opened, for an existing file or one that
// will be made. A file that ssdprobe did not make is used in its present size if it was named itself.
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

// fill opens the target, which makes and fills a file if necessary, and checks whether the data to be read was
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
	if err := errors.Join(err, opened.Close()); err != nil { // fio opens the target itself
		return nil, err
	}
	t.Path, t.OffsetBytes, t.SizeBytes = opened.Path, opened.Area.Start, opened.Area.Size
	t.Reused = !t.Raw && opened.Filled == 0
	t.ReadOnly = opened.ReadOnly || writes && !t.Raw && opened.Filled == 0
	return warnings, nil
}
