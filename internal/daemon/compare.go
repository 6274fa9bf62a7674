package daemon

import (
	"context"
	"errors"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// keepCompared compares the last runs now, and again whenever compareLater asks for it, until ctx ends.
func (s *suites) keepCompared(ctx context.Context) {
	for ctx.Err() == nil {
		s.compareRuns(ctx)
		select {
		case <-ctx.Done():
		case <-s.uncompared:
		}
	}
}

// compareLater asks for the comparison of a run of which the state directory did not tell those before.
func (s *suites) compareLater() {
	select {
	case s.uncompared <- struct{}{}:
	default: // it was asked already
	}
}

// compareRuns compares the last runs, as stored, with those before. A thousand reports take seconds to read, so a watch
// does not wait for that before it begins.
func (s *suites) compareRuns(ctx context.Context) {
	for _, status := range s.list() {
		if status.Last == nil || status.Comparison != nil {
			continue
		}
		err := s.compareRun(ctx, status)
		for guard.Hangs(err) && schedule.Pause(ctx, busyRetry) {
			err = s.compareRun(ctx, status)
		}
		if err != nil && ctx.Err() == nil {
			s.shared.state.report(runsOf(s.spec.ID), err)
		}
	}
}

// compareRun compares the last run in a status with those before, and records that unless the state directory hangs.
func (s *suites) compareRun(ctx context.Context, status record.RunStatus) error {
	err := s.shared.state.compareLast(ctx, &status)
	if err != nil && ctx.Err() == nil {
		s.log.Error("compare with earlier runs", "suite", status.Suite, "err", err)
	}
	s.compared(status)
	return err
}

// compareLast is state.CompareLast. Others can use the directory between two reports. Only one run at a time is compared,
// because the reports fill much memory.
func (s *storage) compareLast(ctx context.Context, status *record.RunStatus) error {
	s.comparing.Lock()
	defer s.comparing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	names, unlisted := through(ctx, s, saveTimeout, func(d state.Dir) ([]string, error) { return d.RunsLike(*status.Last) })
	if guard.Hangs(unlisted) {
		return unlisted
	}
	return errors.Join(unlisted, state.CompareLast(status, names, func(name string) (*record.RunReport, error) {
		return through(ctx, s, saveTimeout, func(d state.Dir) (*record.RunReport, error) { return d.Run(name) })
	}))
}
