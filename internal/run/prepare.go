package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/suite"
)

// writeFileName is what a file is called that a suite writes to: one of its own, as
// the daemon's has to keep what was written to it.
const writeFileName = "ssdprobe-write.dat"

// prepare makes targets of the sessions' subjects: what is to be written to is
// permitted before anything is opened or filled.
func prepare(ctx context.Context, sessions []*Session, chosen Suite) ([]suite.Target, []record.Warning, error) {
	targets := make([]suite.Target, len(sessions))
	for i, s := range sessions {
		var err error
		if targets[i], err = Target(s.options.FS, s.subject); err != nil {
			return nil, nil, err
		}
	}
	writes, err := chosen.WritesTo(chosen.Values, targets...)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", chosen.Name, err)
	}
	for i, s := range sessions {
		if !writes {
			break
		}
		if err := s.allowWrites(&targets[i], chosen.Destroy); err != nil {
			return nil, nil, err
		}
	}
	var warnings []record.Warning
	for i, s := range sessions {
		found, err := s.fill(ctx, &targets[i], writes)
		if err != nil {
			return nil, nil, err
		}
		if i > 0 {
			found = append(append([]record.Warning{}, s.subject.Warnings...), append(s.warnings, found...)...)
		}
		for _, w := range found {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	return ByRoot(targets), warnings, nil
}

// allowWrites gets the permission for a raw device, and a file of its own for others.
func (s *Session) allowWrites(t *suite.Target, destroy []string) error {
	if t.Raw {
		typed := ""
		switch name := safety.Name(t.Device); {
		case slices.Contains(destroy, name):
			typed = name
		case len(destroy) > 0:
			typed = destroy[0]
		}
		permission, err := safety.Permit(s.options.FS, t.Path, t.Device, typed)
		t.Permission = permission
		return err
	}
	path := s.subject.Path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		path = filepath.Join(path, writeFileName)
		if err := removeLeftover(path); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w to write to %s: it exists; name a directory, in which a file is made", safety.ErrRefused, path)
	}
	s.subject.Path = path
	s.options.KeepFile = false // what is in it is no longer what ssdprobe expects
	return nil
}

// removeLeftover removes the file that a run which was killed left behind.
func removeLeftover(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w to write to %s: it is no regular file", safety.ErrRefused, path)
	}
	return os.Remove(path)
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
	if err := errors.Join(err, opened.Close()); err != nil { // fio opens it by itself
		return nil, err
	}
	t.Path, t.OffsetBytes, t.SizeBytes = opened.Path, opened.Area.Start, opened.Area.Size
	t.ReadOnly = opened.ReadOnly || writes && !t.Raw && opened.Filled == 0
	return warnings, nil
}
