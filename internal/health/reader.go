package health

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Reading is the result of reading one source, without its interrupts. What could not be read is nil; LastRead is known
// all the same.
type Reading struct {
	record.Controller
	// OfDevice holds the warnings about the namespace of each device, by the device's id.
	OfDevice map[string][]record.Warning
}

// Reader reads one source repeatedly and compares each reading with earlier ones. It is not safe for concurrent use.
type Reader struct {
	// AllNamespaces makes Read include the namespaces of devices other than the source's.
	AllNamespaces bool

	fs     sysfs.FS
	source Source
	nvme   *Controller // nil for a drive
	drive  *Drive      // nil for a controller
	recent *Recent
	at     time.Time // of the last answer
}

// NewReader returns the reader of a source whose node is in the directory dev. It is nil if the source has no health to
// read. The error is ErrNotInstalled if the source needs smartctl and it was not found.
func NewReader(fs sysfs.FS, s Source, dev string) (*Reader, error) {
	r := &Reader{fs: fs, source: s, recent: &Recent{}}
	switch s.Kind {
	case record.ControllerNVMe:
		r.nvme = NewController(fs, s.Name, Node(filepath.Join(dev, s.Name)))
	case record.ControllerDrive:
		smartctl, err := FindSmartctl()
		if err != nil {
			return nil, err
		}
		d := s.Devices[0]
		r.drive = NewDrive(fs, smartctl, d, filepath.Join(dev, filepath.FromSlash(d.Name)))
	case record.ControllerVirtio:
		return nil, nil //nolint:nilnil // there is nothing to read, and nothing wrong
	}
	return r, nil
}

// Follow makes the reader continue from an earlier reader of the same drives, so that the growth of counters within the
// last day is still known. Call it before the first reading. It has no effect if the earlier reader read another drive.
func (r *Reader) Follow(before *Reader) {
	if r.source.Kind == before.source.Kind && (r.source.Kind == record.ControllerNVMe || slices.Equal(r.source.IDs(), before.source.IDs())) {
		r.recent = before.recent // for a controller, Recent compares the serial number
	}
}

// Read asks the source once and waits at most for Timeout. The error is that of Controller.Read or Drive.Read. Even with
// an error, what was read of a controller is valid.
func (r *Reader) Read(ctx context.Context) (now Reading, err error) {
	now.Controller = record.Controller{Name: r.source.Name, Kind: r.source.Kind, Devices: r.source.IDs(), LastRead: r.at}
	if r.drive != nil {
		err = r.readDrive(ctx, &now)
	} else {
		err = r.readController(ctx, &now)
	}
	r.at = now.LastRead
	return now, err
}

func (r *Reader) readController(ctx context.Context, now *Reading) error {
	ids := NamespaceIDs(r.fs, r.source.Devices)
	var wanted []uint32
	if !r.AllNamespaces {
		wanted = append([]uint32{}, slices.Sorted(maps.Values(ids))...)
	}
	h, ok, err := r.nvme.Read(ctx, Timeout, wanted)
	if !ok {
		return err
	}
	now.Health, now.LastRead, now.Warnings = &h, h.Time, r.recent.Warnings(h)
	now.OfDevice = map[string][]record.Warning{}
	for _, d := range r.source.Devices {
		for _, n := range h.Namespaces {
			if id, known := ids[d.ID]; known && id == n.ID {
				now.OfDevice[d.ID] = NamespaceWarnings(n)
			}
		}
	}
	return err
}

func (r *Reader) readDrive(ctx context.Context, now *Reading) error {
	h, err := r.drive.Read(ctx, Timeout)
	if err != nil {
		return err
	}
	now.Disk = &h
	if h.Asleep {
		return nil
	}
	now.LastRead, now.Warnings = h.Time, r.recent.DiskWarnings(h)
	return nil
}
