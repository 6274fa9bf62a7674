package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Options holds what a run needs.
type Options struct {
	measure.Options // Limits and Guard in it are not used: a run has its own

	// Limits are the thresholds above which the device is left alone.
	Limits admit.Limits
	// EvenIfBusy measures a busy device nevertheless, with a warning.
	EvenIfBusy bool
	// MaxOthers is the share (0 to 1) of the devices' bytes that others may move while a suite
	// runs on it, before the run ends with fiorun.ErrOthers; 0 means no limit.
	MaxOthers float64
	// LockDir is the directory with one lock file per device.
	LockDir string
	// Store is the state directory, which records settings that a suite changes. If it is nil,
	// such suites are refused.
	Store *store.Store
	// Restorer is the command that restores those settings if this process is killed:
	// settings.Self in ssdprobe. If it is nil, such suites are also refused.
	Restorer []string
	// Node and Generator say in the report where and by what it was made.
	Node, Generator string
	// Stoppable lets InProgress find the run; the process must do nothing else.
	Stoppable bool
	// KeepFile keeps a probe file that was made for the run.
	KeepFile bool
	// Progress is called with the progress of the run; never nil.
	Progress func(Progress)
	// Note is called with remarks about a run that begins nevertheless; may be nil.
	Note func(string)
}

// Progress is the progress of a run.
type Progress struct {
	// Left is how long the rest will take; 0 if unknown.
	Left time.Duration
	Step string // what is being done
	// Done is the share (0 to 1) of the step that is done.
	Done float64
	// Text is what is known so far; may be empty.
	Text string
}

const (
	// loadSpan is how long the load of others is observed before a run.
	loadSpan = 600 * time.Millisecond
	// lockPatience is how long to wait for a round of the daemon to end.
	lockPatience = 5 * time.Second
	lockRetry    = 50 * time.Millisecond
	// lockTimeout is how long a use of the lock directory may take beyond that.
	lockTimeout = 10 * time.Second
	// removePatience is how long it may take to lock a file that was made, and to remove it.
	removePatience = 10 * time.Second
)

// Session is a run in progress. It holds the device's lock.
type Session struct {
	subject  measure.Subject
	options  Options
	lock     *store.Lock // nil if another session of the same run holds it
	warnings []record.Warning
	made     string   // a file to be removed
	using    *os.File // made, locked: see isUsed
	formats  bool     // the drive may still be formatting, so nobody else should wait for it
}

// Begin takes the device for a run. Errors: ErrInUse; admit.ErrBusy if others keep the device
// busier than the limits allow.
func Begin(ctx context.Context, subject measure.Subject, o Options) (*Session, error) {
	sessions, err := BeginAll(ctx, []measure.Subject{subject}, func(measure.Subject) Options { return o })
	if err != nil {
		return nil, err
	}
	return sessions[0], nil
}

// takeLock takes the lock of the device below all of the subjects. The filesystem of the locks may hang. Errors:
// *InUseError.
func takeLock(ctx context.Context, o Options, subjects ...measure.Subject) (*store.Lock, error) {
	lock, err := guard.DoLate(ctx, &guard.Guard{}, lockPatience+lockTimeout,
		func(ctx context.Context) (*store.Lock, error) { return noteLock(ctx, o, subjects) },
		func(late *store.Lock, err error) {
			if err == nil { // nobody else knows of it
				_ = late.Release() // if that fails, the end of the process releases it
			}
		})
	switch {
	case !guard.Hangs(err):
		return lock, err
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return nil, fmt.Errorf("take the lock of %s: the filesystem of %s does not answer: %w", subjects[0].Path, o.LockDir, err)
}

// noteLock takes the lock and notes in it that a run has it, where that runs, and which process a stoppable run is. Errors:
// *InUseError.
func noteLock(ctx context.Context, o Options, subjects []measure.Subject) (*store.Lock, error) {
	id := subjects[0].LockID
	lock, err := awaitLock(ctx, o.LockDir, id)
	if errors.Is(err, ErrInUse) {
		return nil, inUse(o.LockDir, id, subjects[0].Path, err)
	} else if err != nil {
		return nil, err
	}
	holder := Holder{Locks: []string{id}}
	for _, subject := range subjects {
		holder.Targets = append(holder.Targets, subject.Path)
	}
	if o.Stoppable {
		err = holder.identify()
	}
	if err == nil {
		err = lock.Note(holder)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock, nil
}

// awaitLock waits up to lockPatience for a round of the daemon to end.
func awaitLock(ctx context.Context, dir, id string) (*store.Lock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, ErrInUse)
	defer cancel()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		lock, err := store.TakeLock(dir, id)
		if err == nil || !errors.Is(err, store.ErrLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-retry.C:
		}
	}
}

// settle looks again which probe file is there: the run that held the lock until now may have removed its own. The
// filesystem may hang.
func (s *Session) settle(ctx context.Context) error {
	found := s.subject
	now, err := guard.Do(ctx, &guard.Guard{}, lockTimeout, func(context.Context) (measure.Subject, error) { return asItIs(found), nil })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case guard.Hangs(err):
		return fmt.Errorf("find %s: the filesystem there does not answer: %w", found.Path, err)
	case err != nil:
		return err
	}
	s.subject = now
	return nil
}

// checkLoad observes the device for a moment before anything is done with it.
func (s *Session) checkLoad(ctx context.Context) error {
	err := checkLoad(ctx, s.options.FS, s.subject.Number, s.options.Limits)
	if errors.Is(err, admit.ErrBusy) && s.options.EvenIfBusy {
		s.warnings = append(s.warnings, record.Warning{
			Code: record.WarnOthersActive,
			Text: fmt.Sprintf("measured although the device was not idle (%v): the figures are those of a shared device", err),
		})
		return nil
	}
	return err
}

// checkLoad checks the load of others on the device with this number.
func checkLoad(ctx context.Context, fs sysfs.FS, number string, limits admit.Limits) error {
	if number == "" {
		return nil
	}
	disk, err := admit.NewDisk(fs, number)
	if err != nil {
		return err
	}
	gate := admit.NewGate(disk, limits.ForRun())
	if err := gate.Start(time.Now()); err != nil {
		return err
	}
	timer := time.NewTimer(loadSpan)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	_, err = gate.Admit(time.Now())
	return err
}

// End releases the device and removes files that were made for the run. It returns what it
// removed. A drive that may still be formatting is released when the process has ended.
func (s *Session) End() (removed string, err error) {
	if s.made != "" {
		if err = s.leave(); err == nil && !s.options.KeepFile {
			removed = s.made
		}
	}
	if s.lock != nil { // otherwise another session of the same run holds it
		err = errors.Join(err, s.letGo())
	}
	return removed, err
}

// letGo releases the lock. The filesystem of the locks may hang.
func (s *Session) letGo() error {
	_, err := guard.Do(context.Background(), &guard.Guard{}, lockTimeout, func(context.Context) (struct{}, error) {
		if s.formats {
			return struct{}{}, s.lock.Keep()
		}
		return struct{}{}, s.lock.Release()
	})
	if guard.Hangs(err) {
		return fmt.Errorf("release the lock of %s: the filesystem of %s does not answer; it is released when that does: %w", s.subject.Path, s.options.LockDir, err)
	}
	return err
}

// leave closes the file that was made, and removes it unless it is kept. Its filesystem may hang.
func (s *Session) leave() error {
	_, err := guard.Do(context.Background(), &guard.Guard{}, removePatience, func(context.Context) (struct{}, error) {
		if s.using != nil {
			if err := s.using.Close(); err != nil {
				return struct{}{}, err
			}
		}
		if s.options.KeepFile {
			return struct{}{}, nil
		}
		if ours, err := target.IsOurs(s.made); err != nil { // another file may have taken its place
			return struct{}{}, err
		} else if !ours {
			return struct{}{}, fmt.Errorf("remove %s: it is not the file that was made for the run: it is left there", s.made)
		}
		return struct{}{}, os.Remove(s.made)
	})
	if guard.Hangs(err) {
		return fmt.Errorf("remove %s: the filesystem does not answer, so the file is left there: %w", s.made, err)
	}
	return err
}

// open opens the target for rounds and records a file that was made for them.
func (s *Session) open(ctx context.Context) (*measure.Session, error) {
	o := s.options.Options
	o.Limits = admit.Unlimited() // Begin has checked
	o.Filling = func(done, total int64) {
		s.options.Progress(Progress{
			Step: "fill", Done: float64(done) / float64(total),
			Text: fmt.Sprintf("%d of %d MiB of random data", done>>20, total>>20),
		})
	}
	opened, err := measure.Open(ctx, s.subject.Target, o)
	if guard.Hangs(err) {
		err = fmt.Errorf("open %s: it does not answer: %w", s.subject.Path, err)
		if s.subject.File {
			err = fmt.Errorf("%w; a file that was being filled (*%s) may be left there, for the next run to use", err, target.FillingSuffix)
		}
	}
	if err != nil {
		return nil, err
	}
	if opened.Filled > 0 {
		s.made = opened.Path
		s.using, err = guard.Do(ctx, &guard.Guard{}, removePatience, func(context.Context) (*os.File, error) { return use(opened.Path) })
		if err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	s.noteLeft(opened)
	return opened, nil
}

// use locks the file of a run in progress for as long as it is open, for runs that do not share its lock of the device: those
// of another user or container.
func use(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// isUsed returns ErrInUse for the file of a run in progress.
func isUsed(path string) error {
	f, err := use(path)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("write to %s, which a run of another user or container uses: %w", path, ErrInUse)
	} else if err != nil {
		return err
	}
	return f.Close()
}

// noteLeft says what else is in the directory of a target, and what of that is used. Nothing is removed: the file that is
// only read may be that of a daemon, whose content it must keep.
func (s *Session) noteLeft(opened *measure.Session) {
	if !s.subject.File || opened.Path == s.subject.Path {
		return
	}
	if opened.Filled == 0 && !opened.ReadOnly {
		s.note("%s (%s) was made by a daemon, with --keep-file, or by a run that was killed: it is used and stays; remove it when no daemon uses it",
			opened.Path, units.Size(opened.Area.Start+opened.Area.Size))
	}
	place, leftover, err := writePlace(s.subject.Path)
	if err != nil { // it is not ours, or in use
		return
	}
	if !leftover {
		place += target.FillingSuffix
		leftover = exists(place)
	}
	if leftover {
		s.note("%s was left by a run that was killed: remove it, or the next run that writes there does", place)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// note makes a remark about the run.
func (s *Session) note(format string, args ...any) {
	if s.options.Note != nil {
		s.options.Note(fmt.Sprintf(format, args...))
	}
}

// report returns the report of a run that begins now.
func (s *Session) report(suite, engine string) record.RunReport {
	return record.RunReport{
		Version: record.RunReportVersion, Suite: suite, Device: s.subject.Device, Target: s.subject.Path,
		TargetID: s.subject.ID, Started: time.Now(), Node: s.options.Node, Generator: s.options.Generator,
		Engine: engine, Conditions: s.subject.Conditions,
		Warnings: slices.Concat(s.subject.Warnings, s.warnings),
	}
}
