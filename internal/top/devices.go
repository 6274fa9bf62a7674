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
	// look is how often it is asked which devices are here, and scanEvery how often what they are.
	look, scanEvery = 2 * time.Second, time.Minute
	// scanTimeout is how long that may take. Attributes of a queue wait for whoever changes one, as somebody may who is
	// stopped by a device that hangs.
	scanTimeout = 5 * time.Second
)

// partition is a kind that a record.Device never has.
const partition record.Kind = "partition"

// devices are the devices of the machine.
type devices struct {
	host   sysfs.FS
	wanted []string // names of devices; empty for all
	asking guard.Guard
	// guarded is deferred in each goroutine.
	guarded func()

	mu    sync.Mutex
	all   bool // also those that are no whole disks
	known []listed
	err   error // why they were not listed of late
}

// listed is a device that is here.
type listed struct {
	record.Device
	whole bool
}

// follow lists the devices again whenever one comes or goes, until ctx ends.
func (d *devices) follow(ctx context.Context) error {
	again := time.NewTicker(look)
	defer again.Stop()
	before, _ := d.names()
	scanned := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
		now, err := d.names()
		if err != nil || !slices.Equal(now, before) || time.Since(scanned) > scanEvery {
			before, scanned = now, time.Now()
			d.list(ctx)
		}
	}
}

// names are those of all whole devices, of loop devices without a file, too.
func (d *devices) names() ([]string, error) { return d.host.List("/sys/block") }

// list finds out which devices are here. When that fails, those that are known stay.
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

// scan lists the devices that are wanted. Its slice is nil only when the machine could not be looked at.
func (d *devices) scan() ([]listed, error) {
	picks, err := device.Choose(d.host, nil, nil)
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

// chosen are the devices that are wanted, in their order. The error joins those that are not here.
func (d *devices) chosen(all []listed) ([]listed, error) {
	var problems []error
	chosen := []listed{}
	for _, name := range d.wanted {
		i := slices.IndexFunc(all, func(l listed) bool { return l.Kind == partition && (name == l.Name || name == "/dev/"+l.Name) })
		if i < 0 {
			found, err := device.Find(d.host, name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if i = slices.IndexFunc(all, func(l listed) bool { return l.Number == found.Number }); i < 0 {
				problems = append(problems, fmt.Errorf("%s: it has no size: there is no medium in it", name))
				continue
			}
		}
		if !slices.ContainsFunc(chosen, func(l listed) bool { return l.Number == all[i].Number }) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, errors.Join(problems...)
}

// whole reports a drive of its own: neither made of other devices nor memory, a file or a disc.
func whole(d record.Device) bool {
	return (d.Kind == record.KindDisk || d.Kind == record.KindNetwork) && len(d.Members) == 0
}

// partitions are those of a device. One that is not numbered has just left.
func (d *devices) partitions(of record.Device) (all []listed) {
	for _, name := range of.Children {
		number, err := d.host.Text(path.Join("/sys/block", sysfs.DirName(of.Name), sysfs.DirName(name), "dev"))
		if err == nil {
			all = append(all, listed{record.Device{ID: of.ID + "-" + name, Name: name, Number: number, Kind: partition}, false})
		}
	}
	return all
}

// setAll says whether those are shown, too, that are no whole disks.
func (d *devices) setAll(all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = all
}

// current are the devices to be shown, and why they could not be listed.
func (d *devices) current() ([]listed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all || len(d.wanted) > 0 {
		return d.known, d.err
	}
	return slices.DeleteFunc(slices.Clone(d.known), func(l listed) bool { return !l.whole }), d.err
}

// sampled are the same for the sampler.
func (d *devices) sampled() []traffic.Device {
	shown, _ := d.current()
	all := make([]traffic.Device, len(shown))
	for i, l := range shown {
		all[i] = traffic.Device{ID: l.ID, Number: l.Number, Controllers: l.Controllers}
	}
	return all
}
