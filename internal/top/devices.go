package top

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

const (
	// look is how often the names of the devices are listed, and scanEvery how often, at least, their
	// properties are read.
	look, scanEvery = 2 * time.Second, time.Minute
	// scanTimeout is how long that may take. Reading a queue attribute waits for whoever is writing one, and a
	// device that hangs may block that writer.
	scanTimeout = 5 * time.Second
)

// partition is a kind that no record.Device has.
const partition record.Kind = "partition"

// devices lists the devices of the machine.
type devices struct {
	host   sysfs.FS
	disks  *device.Scanner
	wanted []string // names of devices; empty for all
	// watched says whether the daemon watches the device with an id.
	watched func(id string) bool
	asking  guard.Guard
	// guarded is deferred in each goroutine; see Source.guarded.
	guarded func()

	mu    sync.Mutex
	all   bool // also devices that are not whole disks
	known []listed
	err   error // why the last listing failed
}

// listed is a device that is present.
type listed struct {
	record.Device
	whole bool
}

// follow lists the devices whenever one comes or goes, and at least every scanEvery, until ctx ends.
func (d *devices) follow(ctx context.Context) error {
	again := time.Tick(look)
	before, _ := d.names()
	scanned := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		}
		now, err := d.names()
		if err != nil || !slices.Equal(now, before) || time.Since(scanned) > scanEvery {
			before, scanned = now, time.Now()
			d.list(ctx)
		}
	}
}

// names returns the names of all whole devices, including loop devices without a file.
func (d *devices) names() ([]string, error) { return d.host.List("/sys/block") }

// list finds out which devices are present. If that fails, the known devices are kept.
func (d *devices) list(ctx context.Context) {
	found, err := guard.Do(ctx, &d.asking, scanTimeout, func(context.Context) ([]listed, error) {
		defer d.guarded()
		return d.scan()
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if found != nil {
		d.known = found
	}
	d.err = err
}

// scan lists the wanted devices. The slice is nil only if the devices of the machine could not be read.
func (d *devices) scan() ([]listed, error) {
	picks, err := d.disks.Choose(nil, nil)
	if picks == nil {
		return nil, err
	}
	all := make([]listed, 0, len(picks))
	for _, p := range picks {
		if p.Device.SizeBytes > 0 {
			all = append(all, listed{p.Device, whole(p.Device)})
			all = append(all, d.partitions(p.Device)...)
		}
	}
	if len(d.wanted) == 0 {
		return all, err
	}
	return d.chosen(all)
}

// chosen returns the wanted devices, in the order of d.wanted. The error joins those of devices that were not
// found.
func (d *devices) chosen(all []listed) ([]listed, error) {
	var problems []error
	chosen := []listed{}
	for _, name := range d.wanted {
		i := slices.IndexFunc(all, func(l listed) bool { return l.Kind == partition && (name == l.Name || name == "/dev/"+l.Name) })
		if i < 0 {
			found, err := d.disks.Find(name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if i = slices.IndexFunc(all, func(l listed) bool { return l.Number == found.Number }); i < 0 {
				problems = append(problems, fmt.Errorf("%s: %s", name, device.NoSize(found)))
				continue
			}
		}
		if !slices.ContainsFunc(chosen, func(l listed) bool { return l.Number == all[i].Number }) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, errors.Join(problems...)
}

// whole reports whether a device is a drive of its own: not made of other devices, of memory or of a file, and
// not a disc.
func whole(d record.Device) bool {
	return (d.Kind == record.KindDisk || d.Kind == record.KindNetwork) && len(d.Members) == 0
}

// partitions returns the partitions of a device. One whose number cannot be read has just left.
func (d *devices) partitions(of record.Device) (all []listed) {
	for _, name := range of.Children {
		number, err := d.host.Text(path.Join("/sys/block", sysfs.DirName(of.Name), sysfs.DirName(name), "dev"))
		if err == nil {
			all = append(all, listed{record.Device{ID: of.ID + "-" + name, Name: name, Number: number, Kind: partition}, false})
		}
	}
	return all
}

// setAll sets whether devices that are not whole disks are shown, too.
func (d *devices) setAll(all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = all
}

// current returns the devices to show, and why the last listing failed.
func (d *devices) current() ([]listed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all || len(d.wanted) > 0 {
		return d.known, d.err
	}
	return slices.DeleteFunc(slices.Clone(d.known), func(l listed) bool { return !l.whole && !d.watched(l.ID) }), d.err
}

// sampled returns the devices for the sampler: also those that are not shown, as the daemon may say in a moment that it watches
// them.
func (d *devices) sampled() []traffic.Device {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]traffic.Device, len(d.known))
	for i, l := range d.known {
		all[i] = traffic.Device{ID: l.ID, Number: l.Number, Controllers: l.Controllers}
	}
	return all
}
