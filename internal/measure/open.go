package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// openTimeout is how long a device may take to be opened.
	openTimeout = 20 * time.Second
	// fillPatience is how long the filling of a probe file may go without progress. However slow a drive is, a fill that
	// goes on is not given up: the next one would begin from the start.
	fillPatience = 5 * time.Minute
	noTimeout    = math.MaxInt64
)

// Target describes what to open.
type Target struct {
	// ID is the stable identity of the target.
	ID   string
	Path string // of the device node, the file, or the file's directory
	File bool
	// Number is the kernel's number of the device, or of the device below the file; empty if that is not a device of
	// this host.
	Number string
	// Spins is true if the target is a hard disk, or a file on one.
	Spins bool
	// SizeBytes is the size of a device according to sysfs.
	SizeBytes int64
	// FileBytes and FillBytesPerSecond say how to make a probe file: see target.FileOptions.
	FileBytes          int64
	FillBytesPerSecond int64
}

// Options holds what a session needs besides its target.
type Options struct {
	FS     sysfs.FS // of the host
	Engine *probe.Engine
	Meter  *counters.Meter
	Limits admit.Limits
	// Most is the most work that others were seen to do on the target so far.
	Most admit.Capacity
	// Guard protects the caller from calls that may hang. It outlives the session, so that a target that hangs is not
	// opened a second time.
	Guard *guard.Guard
	// Lock locks the device for one round and returns the function that unlocks it. It returns store.ErrLocked if
	// another run holds the lock. It is nil if the caller holds the lock all the time.
	Lock func() (release func(), err error)
	// Pool holds the known written blocks of a raw device; nil if none are known.
	Pool *probe.Pool
	// Late is called when a round that was given up as hung returns after all: its measurement says how long its I/O
	// took. The round was counted when it was given up. Late runs in another goroutine; it may be nil.
	Late func(record.Measurement)
	// Filling is called with the bytes written and wanted while a probe file is filled; it may be nil.
	Filling func(done, total int64)
}

// Session is an open target. It is not safe for concurrent use.
type Session struct {
	// ReadOnly is true if ssdprobe did not make the file, so that it is only read.
	ReadOnly bool
	// Pool is the pool of a raw device; nil for files.
	Pool *probe.Pool
	// Path is the path of the device node or of the file, and Area the part of it that is measured.
	Path string
	Area probe.Area
	// Filled is how many bytes Open wrote to make a probe file; 0 if it made none.
	Filled int64
	// Small is a warning that the probe file is smaller than requested; zero if it is not.
	Small record.Warning
	// SetAside is the new path of an earlier probe file that no longer held what was written to it; usually empty.
	SetAside string

	target  Target
	options Options
	gate    *admit.Gate
	prober  *probe.Prober
	handle  handle
}

// handle is an open target whose descriptor can be released between rounds.
type handle interface {
	io.Closer
	Acquire() error
	Release() error
}

// Open opens a target. The order in which its blocks are read differs each time, because the first blocks of a fixed
// order would soon be in a cache. Errors: those of package target, and *guard.HungError.
func Open(ctx context.Context, t Target, o Options) (*Session, error) {
	s := &Session{target: t, options: o}
	var err error
	if t.File {
		err = s.openFile(ctx)
	} else {
		err = s.openDevice(ctx)
	}
	if err != nil {
		return nil, err
	}
	var host admit.Host
	if t.Number != "" {
		if host, err = admit.NewDisk(o.FS, t.Number); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.gate = admit.NewGate(host, o.Limits)
	s.gate.Spins, s.gate.Most = t.Spins, o.Most
	err = s.gate.Start(time.Now())
	if err == nil {
		err = s.handle.Release()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// HadRun tells the session that a run of ours used the target since the last round.
func (s *Session) HadRun() { s.gate.Forget() }

// Most returns the most work that others were seen to do on the target.
func (s *Session) Most() admit.Capacity { return s.gate.Most }

func (s *Session) openDevice(ctx context.Context) error {
	d, err := openGuarded(ctx, s, openTimeout, func(context.Context) (*target.Device, error) {
		return target.OpenDevice(s.target.Path, s.target.Number)
	})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %s", err, howToRead(s.target.Path, err))
	case err != nil:
		return err
	}
	if d.SizeBytes() != s.target.SizeBytes {
		return errors.Join(s.Close(), fmt.Errorf("open %s: it has %d bytes, and sysfs says %d: it is being resized or replaced",
			s.target.Path, d.SizeBytes(), s.target.SizeBytes))
	}
	if s.Pool = s.options.Pool; s.Pool == nil {
		if s.Pool, err = probe.NewPool(d.SizeBytes(), rand.Uint64()); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	s.prober, s.Path, s.Area = probe.NewDeviceProber(s.options.Engine, d, s.Pool, d.BlockBytes()), d.Path(), probe.Area{Size: d.SizeBytes()}
	return nil
}

func (s *Session) openFile(ctx context.Context) error {
	t := s.target
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(fillPatience, cancel)
	defer idle.Stop()
	options := target.FileOptions{SizeBytes: t.FileBytes, BytesPerSecond: t.FillBytesPerSecond, Progress: func(done, total int64) {
		idle.Reset(fillPatience)
		if s.options.Filling != nil {
			s.options.Filling(done, total)
		}
	}}
	f, err := openGuarded(ctx, s, noTimeout, func(ctx context.Context) (*target.File, error) {
		return target.PrepareFile(ctx, t.Path, options)
	})
	if errors.Is(err, target.ErrForeign) {
		if place, locateErr := target.Locate(t.Path); locateErr != nil || place != t.Path {
			return fmt.Errorf("%w; move it away, or name the file itself", err)
		}
		return s.openExisting(ctx)
	} else if err != nil {
		return err
	}
	start, length := f.Data()
	s.Path, s.Filled, s.SetAside = f.Path(), f.Filled, f.SetAside
	if f.SizeBytes() < t.FileBytes {
		s.Small = record.Warning{Code: record.WarnSmallFile, Text: fmt.Sprintf("the probe file %s has %s, not the %s that were asked for: at most a tenth of the free space is used",
			f.Path(), units.Size(f.SizeBytes()), units.Size(t.FileBytes))}
	}
	s.Area = probe.Area{Start: start, Size: length, BlockBytes: f.BlockBytes()}
	s.prober = probe.NewFileProber(s.options.Engine, f, f, s.Area, rand.Uint64())
	return nil
}

// openExisting opens a file that ssdprobe did not make, which is only read.
func (s *Session) openExisting(ctx context.Context) error {
	f, err := openGuarded(ctx, s, openTimeout, func(context.Context) (*target.Existing, error) {
		return target.OpenExisting(s.target.Path)
	})
	if err != nil {
		return err
	}
	s.Path, s.ReadOnly, s.Area = f.Path(), true, probe.Area{Size: f.SizeBytes(), BlockBytes: f.BlockBytes()}
	s.prober = probe.NewFileProber(s.options.Engine, f, nil, s.Area, rand.Uint64())
	return nil
}

// openGuarded opens a target through the guard and keeps the handle for Close. If an open that was given up returns
// later, its handle is closed here.
func openGuarded[T handle](ctx context.Context, s *Session, timeout time.Duration, open func(context.Context) (T, error)) (T, error) {
	opened, err := guard.DoLate(ctx, s.options.Guard, timeout, open, func(late T, err error) {
		if err == nil {
			_ = late.Close() // nobody waits for it any more
		}
	})
	if err == nil {
		s.handle = opened
	}
	return opened, err
}

// Close closes the descriptor. While the target hangs, that is put off until the kernel has returned the thread that
// uses it. Close then returns nil before the outcome is known; nothing that was written depends on it.
func (s *Session) Close() error {
	var err error
	if !s.options.Guard.Finally(func() { err = s.handle.Close() }) {
		return nil
	}
	return err
}
