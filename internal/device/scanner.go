package device

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const (
	// answerTimeout is how long a device may take to answer. A virtio disk that is busy answers after the I/Os before it.
	answerTimeout = 3 * time.Second
	// askedAtOnce limits the threads that ask devices at a time. Devices that hang delay the others only once there are this many.
	askedAtOnce = 32
)

// ErrNoAnswer says that a device hangs and that nothing is known of it from before. Its identity is then not known.
var ErrNoAnswer = errors.New("it hangs, and has not answered before")

// Scanner looks at the devices of a machine again and again. A device that hangs does not delay the others: see
// answerTimeout. It is not asked again until it answers; until then, what it said before remains in force, with an error
// that wraps a *guard.HungError. A Scanner is not safe for concurrent use.
//
// Two kinds of attributes wait for a device. The serial number of a virtio disk is a request to the host, without a
// timeout (virtblk_get_id in drivers/block/virtio_blk.c). Attributes of the queue wait for whoever is changing one, and
// that waits for all I/O under way (queue_attr_show in block/blk-sysfs.c).
type Scanner struct {
	// Recall, if not nil, returns the devices that an earlier Scanner knew, such as the one before a restart. The first scan calls
	// it if a device hangs.
	Recall func() []Recalled

	fs      sysfs.FS
	devices map[string]*asked // by the directory in /sys/devices
	// seen holds the devices of the last scan, by the name in /sys/block. It is never changed, because a call that hangs may
	// still read it.
	seen  map[string]found
	lives map[string]*life // by the identity of the device
}

// NewScanner returns a Scanner that knows no device yet.
func NewScanner(fs sysfs.FS) *Scanner { return &Scanner{fs: fs, lives: map[string]*life{}} }

// asked is what a Scanner knows of one device.
type asked struct {
	guard guard.Guard
	inode uint64 // of its directory: another device in the same place has another one
	known *found // nil until the device has been identified
	// conditions and warnings are those of the last answer; hasConditions is false until there is one.
	conditions    record.Conditions
	warnings      []record.Warning
	hasConditions bool
}

// scan reads all devices.
func (s *Scanner) scan() ([]found, error) {
	names, err := s.fs.List(blockDir)
	if err != nil {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	links, err := byID(s.fs)
	if err != nil {
		return nil, err
	}
	answers := make([]*found, len(names))
	devices := map[string]*asked{}
	var group errgroup.Group
	group.SetLimit(askedAtOnce)
	for i, name := range names {
		dir, err := s.fs.Resolve(path.Join(blockDir, name))
		if err != nil {
			continue // it has left since it was listed
		}
		inode, err := s.fs.Inode(dir)
		if err != nil {
			continue
		}
		a := s.devices[dir]
		if a == nil || a.inode != inode {
			a = &asked{inode: inode}
		}
		devices[dir] = a
		group.Go(func() error {
			if f, here := a.read(s.fs, name, dir, links); here {
				f.dir, f.inode = dir, inode
				answers[i] = &f
			}
			return nil
		})
	}
	_ = group.Wait() // the functions never fail; errors are in the answers
	if s.seen == nil && s.Recall != nil {
		s.recall(answers, devices)
	}
	all, seen := make([]found, 0, len(names)), map[string]found{}
	for i, f := range answers {
		if f != nil {
			all = append(all, *f)
			seen[names[i]] = *f
		}
	}
	s.devices, s.seen = devices, seen
	s.follow(all, time.Now())
	return all, nil
}

// read is like the function read, but waits no longer than answerTimeout.
func (a *asked) read(fs sysfs.FS, name, dir string, links map[string][]string) (found, bool) {
	f, err := guard.Do(context.Background(), &a.guard, answerTimeout, func(context.Context) (*found, error) {
		if f, here := read(fs, name, links); here {
			return &f, nil
		}
		return nil, nil //nolint:nilnil // a device that has left is no error
	})
	deviceName := sysfs.DeviceName(name)
	switch {
	case err != nil && a.known != nil:
		before := *a.known
		before.err = fmt.Errorf("read device %s, of which now holds what it said before: %w", deviceName, err)
		return before, true
	case err != nil:
		// The number does not wait for the device: the kernel has it. An error only means that nobody finds the device by it.
		number, _ := fs.Text(path.Join(dir, "dev"))
		d := record.Device{Name: deviceName, Number: number, ByID: links[deviceName], NUMANode: -1}
		return found{Device: d, err: fmt.Errorf("read device %s: %w: %w", deviceName, ErrNoAnswer, err), unknown: true}, true
	case f == nil:
		return found{}, false
	case a.known != nil && fellSilent(a.known.Device, f.Device):
		before := *a.known
		before.err = fmt.Errorf("read device %s: it no longer says its serial number, which was %s", deviceName, before.Serial)
		return before, true
	case !f.unknown:
		a.known = f
	}
	return *f, true
}

// fellSilent reports whether a disk no longer says its serial number. A virtio disk whose host answers with an I/O error
// has an empty one (serial_show in drivers/block/virtio_blk.c), and is still the same disk.
func fellSilent(before, now record.Device) bool {
	return now.Transport == "virtio" && now.Serial == "" && before.Serial != ""
}

// Conditions is like the function Conditions, for a device of the last scan. If the device hangs, it returns what it
// returned last, with an error. That error matches ErrNoAnswer if there is nothing to return.
func (s *Scanner) Conditions(d record.Device) (record.Conditions, []record.Warning, error) {
	dir, err := s.fs.Resolve(path.Join(blockDir, sysfs.DirName(d.Name)))
	a := s.devices[dir]
	if err != nil || a == nil {
		a = &asked{}
	}
	type answer struct {
		conditions record.Conditions
		warnings   []record.Warning
	}
	seen := s.seen
	now, err := guard.Do(context.Background(), &a.guard, answerTimeout, func(context.Context) (answer, error) {
		c, warnings, err := conditions(s.fs, d, seen)
		return answer{c, warnings}, err
	})
	switch {
	case !guard.Hangs(err):
		a.conditions, a.warnings, a.hasConditions = now.conditions, now.warnings, true
		return now.conditions, now.warnings, err
	case !a.hasConditions:
		return record.Conditions{}, nil, fmt.Errorf("read conditions of %s: %w: %w", d.Name, ErrNoAnswer, err)
	}
	return a.conditions, slices.Clone(a.warnings), fmt.Errorf("read conditions of %s, of which now hold those before: %w", d.Name, err)
}
