package settings

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Options holds what is needed to change settings.
type Options struct {
	FS    sysfs.FS // of the host
	Store *store.Store
	// OpenNVMe opens a controller, usually nvme.Open.
	OpenNVMe func(path string) (*nvme.Device, error)
	// Restorer is the command of a process that calls Guard. It is started before
	// anything is changed, with the arguments --state-dir, --host-root and the device's
	// identity.
	Restorer []string
}

// Self returns the Restorer of ssdprobe: the running program, even if its file has been
// replaced.
func Self() []string { return []string{"/proc/self/exe", "restore-settings"} }

// Session changes the settings of one device. It is not safe for concurrent use.
type Session struct {
	options  Options
	device   record.Device
	journal  journal
	locks    locks
	restorer *restorer // nil until something is changed
}

// Take begins to change settings of a device. It first restores what a killed process
// left changed. Only one process at a time can do this for a device, and for the
// namespaces of an NVMe controller, which share its settings: store.ErrLocked.
func Take(o Options, d record.Device) (*Session, error) {
	if d.ID == "" {
		return nil, errors.New("change settings: the device is not known")
	}
	s := &Session{options: o, device: d, journal: journal{Version: journalVersion, DeviceID: d.ID}}
	for _, name := range slices.Concat([]string{d.ID}, d.Controllers) {
		lock, err := o.lock(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("change settings of %s: %w", d.Name, err), s.locks.release())
		}
		s.locks = append(s.locks, lock)
	}
	if _, err := o.restore(d.ID); err != nil {
		return nil, errors.Join(err, s.locks.release())
	}
	return s, nil
}

type locks []*store.Lock

func (l locks) release() error {
	var errs []error
	for _, lock := range l {
		errs = append(errs, lock.Release())
	}
	return errors.Join(errs...)
}

// lock reserves the journal of a device, or a controller, for this process for as long as it runs.
func (o Options) lock(name string) (*store.Lock, error) {
	return store.TakeLock(filepath.Join(o.Store.Dir(), kindJournal+"-locks"), name)
}

// Read returns the value of a device's setting, and changes nothing. Errors: ErrNone.
func (o Options) Read(d record.Device, name Name) (string, error) {
	if d.ID == "" {
		return "", errors.New("change settings: the device is not known")
	}
	p, err := o.find(d, name)
	if err != nil {
		return "", err
	}
	return p.read()
}

// Read returns the value of a setting. Errors: ErrNone.
func (s *Session) Read(name Name) (string, error) { return s.options.Read(s.device, name) }

// Set changes a setting and verifies the change. Before the first change, it starts a
// process that restores everything if this one is killed; without that process it
// changes nothing, nor does it when ctx ends before the original value is in the journal.
// Errors: ErrNone.
func (s *Session) Set(ctx context.Context, name Name, value string) error {
	fail := func(err error) error { return fmt.Errorf("set %s of %s to %s: %w", name, s.device.Name, value, err) }
	p, err := s.options.find(s.device, name)
	if err != nil {
		return fail(err)
	}
	before, err := p.read()
	if err != nil {
		return fail(err)
	}
	if before == value {
		return nil
	}
	if err := s.guard(); err != nil {
		return fail(err)
	}
	if s.journal.note(name, before) {
		if err := s.options.Store.Save(kindJournal, s.device.ID, s.journal); err != nil {
			return fail(err)
		}
	}
	if err := ctx.Err(); err != nil { // nobody waits any more
		return fail(err)
	}
	if err := p.write(value); err != nil {
		return fail(err)
	}
	now, err := p.read()
	if err == nil && now != value {
		err = fmt.Errorf("it is %s still", now)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// guard makes sure that the restorer runs.
func (s *Session) guard() (err error) {
	if s.restorer == nil {
		s.restorer, err = s.options.startRestorer(s.device.ID)
		return err
	}
	return s.restorer.check()
}

// Restore restores all original values and ends the session. What could not be restored
// stays in the journal, and the restorer continues to try. The state directory may hang: the
// values come from memory, and it is used when they are restored.
func (s *Session) Restore() error {
	var err error
	if len(s.journal.Entries) > 0 {
		_, err = s.options.restoreAll(s.journal)
	}
	released := s.locks.release()
	switch {
	case s.restorer == nil:
	case err != nil && s.restorer.ended():
		err = fmt.Errorf("%w; process %d, which would try again, has ended (%s): the next start of ssdprobe tries again", err, s.restorer.pid, s.restorer.how)
		released = errors.Join(released, s.restorer.leave())
	case err != nil:
		err = fmt.Errorf("%w; process %d tries again for %s", err, s.restorer.pid, units.Span(restorePatience))
		released = errors.Join(released, s.restorer.leave())
	default:
		released = errors.Join(released, s.restorer.end())
	}
	return errors.Join(err, released)
}
