package run

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/measure"
)

// BeginAll takes several devices for one run, or none of them. Targets on the same
// device share its lock. options returns the options for a subject. Errors are those of
// Begin.
func BeginAll(ctx context.Context, subjects []measure.Subject, options func(measure.Subject) Options) ([]*Session, error) {
	var sessions []*Session
	fail := func(err error) ([]*Session, error) {
		_, ended := EndAll(sessions) // no file has been made yet
		return nil, errors.Join(err, ended)
	}
	locked := map[string]bool{}
	for _, subject := range subjects {
		s := &Session{subject: subject, options: options(subject)}
		if !locked[subject.LockID] {
			lock, err := takeLock(ctx, s.options, lockedWith(subject, subjects)...)
			if err != nil {
				return fail(err)
			}
			s.lock, locked[subject.LockID] = lock, true
		}
		sessions = append(sessions, s)
	}
	for _, s := range sessions {
		if err := s.settle(ctx); err != nil {
			return fail(err)
		}
	}
	var looking errgroup.Group
	for _, s := range sessions {
		looking.Go(func() error { return s.checkLoad(ctx) })
	}
	if err := looking.Wait(); err != nil {
		return fail(err)
	}
	return sessions, nil
}

// lockedWith returns the subjects, the given one among them, that share the lock of its device.
func lockedWith(subject measure.Subject, all []measure.Subject) []measure.Subject {
	return slices.DeleteFunc(slices.Clone(all), func(s measure.Subject) bool { return s.LockID != subject.LockID })
}

// EndAll ends all sessions and returns what they removed.
func EndAll(sessions []*Session) (removed []string, err error) {
	for _, s := range sessions {
		name, ended := s.End()
		err = errors.Join(err, ended)
		if name != "" {
			removed = append(removed, name)
		}
	}
	return removed, err
}
