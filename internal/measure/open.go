package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// fillSlack is what making a probe file may take beyond the time that its size
	// and rate ask for.
	fillSlack = 5 * time.Minute
	// slowestFill is the rate that is waited for when the rate has no limit.
	slowestFill = 4 << 20
)

// Target is what is to be opened.
type Target struct {
	// ID is the stable identity.
	ID   string
	Path string // of the device node, or of the file or its directory
	File bool
	// Number is the kernel's number of the device, or of the one below the file;
	// empty when it is none of this host's.
	Number string
	// Spins says that it is a hard disk, or on one.
	Spins bool
	// SizeBytes is the size of a device, as sysfs says.
	SizeBytes int64
	// FileBytes and FillBytesPerSecond are for making a probe file: see target.FileOptions.
	FileBytes          int64
	FillBytesPerSecond int64
}

// Options are what a session works with.
type Options struct {
	FS     sysfs.FS // the host's
	Engine *probe.Engine
	Meter  *counters.Meter
	Limits admit.Limits
	// Most is the most work that others were seen to do on the target before.
	Most admit.Capacity
	// Guard stands between the caller and calls that may hang; it outlives the
	// session, so that a target that hangs is not opened a second time.
	Guard *guard.Guard
	// Lock takes the lock of the device for one round, and returns what releases it; nil when the caller holds it all
	// the time. Errors: store.ErrLocked when another run has it.
	Lock func() (release func(), err error)
	// Pool is what is known of the written blocks of a raw device; nil for nothing.
	Pool *probe.Pool
	// Late is told of a round that was given up as hung and returned after all: its measurement says how long its
	// I/O took. It was counted when it was given up. Called from another goroutine; may be nil.
	Late func(record.Measurement)
	// Filling is told the bytes written and wanted of a probe file; may be nil.
	Filling func(done, total int64)
}

// Session is an open target. It is not safe for concurrent use.
type Session struct {
	// ReadOnly says that the file is somebody else's, so that it is only read.
	ReadOnly bool
	// Pool is that of a raw device; nil on files.
	Pool *probe.Pool
	// Path is that of the device node or of the file, and Area the part of it that
	// is measured.
	Path string
	Area probe.Area
	// Filled is how many bytes were written to make a probe file now.
	Filled int64
	// Small warns that the probe file is smaller than was asked for; zero when it is not.
	Small record.Warning
	// SetAside is where a probe file was moved that did not hold what was written
	// to it; empty mostly.
	SetAside string

	target  Target
	options Options
	gate    *admit.Gate
	prober  *probe.Prober
	handle  handle
}

// handle is an open target that is given back between rounds.
type handle interface {
	io.Closer
	Acquire() error
	Release() error
}

// Open opens a target. The order in which its blocks are read is another one each
// time: the first ones of a fixed order would soon be in some cache. Errors: those of package target, and *guard.HungError.
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

// Most is the most work that others were seen to do on the target.
func (s *Session) Most() admit.Capacity { return s.gate.Most }

func (s *Session) openDevice(ctx context.Context) error {
	d, err := openGuarded(ctx, s, openTimeout, func(context.Context) (*target.Device, error) {
		return target.OpenDevice(s.target.Path, s.target.Number)
	})
	if err != nil {
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
	options := target.FileOptions{SizeBytes: t.FileBytes, BytesPerSecond: t.FillBytesPerSecond, Progress: s.options.Filling}
	rate := t.FillBytesPerSecond
	if rate <= 0 {
		rate = slowestFill
	}
	limit := fillSlack + time.Duration(t.FileBytes/rate)*time.Second
	f, err := openGuarded(ctx, s, limit, func(ctx context.Context) (*target.File, error) {
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

// openExisting opens somebody else's file, which is only read.
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

// openGuarded opens through the guard and keeps what was opened for closing. What
// an open that was given up returns later is closed by itself.
func openGuarded[T handle](ctx context.Context, s *Session, timeout time.Duration, open func(context.Context) (T, error)) (T, error) {
	opened, err := guard.Do(ctx, s.options.Guard, timeout, func(ctx context.Context) (T, error) {
		opened, err := open(ctx)
		if err == nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), opened.Close())
		}
		return opened, err
	})
	if err == nil {
		s.handle = opened
	}
	return opened, err
}

// Close gives the descriptor back. While the target hangs that is put off until
// the kernel has given back the thread that uses it; how it goes is then not told,
// as nothing that was written depends on it.
func (s *Session) Close() error {
	var err error
	if !s.options.Guard.Finally(func() { err = s.handle.Close() }) {
		return nil
	}
	return err
}
