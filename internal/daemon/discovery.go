package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// scanTimeout is how long sysfs may take; a broken driver can block a read.
	scanTimeout = 30 * time.Second
	// stopTimeout is how long a watch that is no longer wanted may take to stop.
	stopTimeout = 5 * time.Second
	// fallbackDir is where, in the state directory, a probe file is made when no
	// device may be opened.
	fallbackDir = "probe"
)

// sighting is what discovery has seen of a target.
type sighting struct {
	device     record.Device
	conditions record.Conditions
	warnings   []record.Warning
	collector  record.CollectorStatus
}

// wanted is a target that should be under watch.
type wanted struct {
	spec spec
	seen sighting
}

// discover looks for devices that came or left, for requests and for a new
// configuration, until ctx ends; then it stops all watches.
func (d *Daemon) discover(ctx context.Context) error {
	running, stop := context.WithCancel(context.Background())
	defer stop()
	for first := true; ; first = false {
		d.reconcile(ctx, running)
		if first {
			d.mu.Lock()
			d.ready = true
			d.mu.Unlock()
			close(d.first)
		}
		timer := time.NewTimer(d.configuration().DiscoveryInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			d.stopAll()
			d.health.stopAll()
			return nil
		case r := <-d.reload:
			timer.Stop()
			d.take(r)
		case <-timer.C:
		}
	}
}

func (d *Daemon) configuration() config.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config
}

// reconcile looks at what is here and makes the watches match it.
func (d *Daemon) reconcile(ctx, running context.Context) {
	c := d.configuration()
	start := time.Now()
	found, err := guard.Do(ctx, &d.scanning, scanTimeout, func(ctx context.Context) (findings, error) { return d.look(ctx, c) })
	if ctx.Err() != nil {
		return
	}
	status := collected("discovery", "", start, err)
	d.mu.Lock()
	if err != nil && d.discovered.Error != status.Error {
		d.shared.log.Error("discovery", "err", err)
	}
	d.discovered = status
	if !found.complete { // what is not seen now may still be there
		d.mu.Unlock()
		return
	}
	d.ignored = found.ignored
	d.mu.Unlock()

	for id, w := range d.current() {
		if now, ok := found.wanted[id]; !ok || !reflect.DeepEqual(now.spec, w.spec) {
			d.stop(w)
			if !ok {
				d.shared.latencies.Forget(id)
			}
		}
	}
	d.answerRequests()
	d.health.follow(ctx, running, c, found.devices())
	for id, target := range found.wanted {
		target.seen.conditions = d.health.complete(target.seen.device, target.seen.conditions)
		if w, ok := d.current()[id]; ok {
			w.see(target.seen, time.Now())
			continue
		}
		d.start(running, target)
	}
	for _, w := range d.current() {
		w.plan(c.Runs, wallClock())
	}
}

func (d *Daemon) current() map[string]*watch {
	d.mu.Lock()
	defer d.mu.Unlock()
	watches := make(map[string]*watch, len(d.watches))
	for id, w := range d.watches {
		watches[id] = w
	}
	return watches
}

func (d *Daemon) start(running context.Context, t wanted) {
	w := newWatch(t.spec, t.seen, d.shared)
	ctx, cancel := context.WithCancel(running)
	w.cancel = cancel
	d.mu.Lock()
	d.watches[t.spec.ID] = w
	d.mu.Unlock()
	go w.Run(ctx) // ends with its context; stop waits for it
}

// stop ends a watch and waits for it, so that its state is saved.
func (d *Daemon) stop(w *watch) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	d.stopBefore(ctx, w)
}

// stopBefore is stop with the patience of ctx.
func (d *Daemon) stopBefore(ctx context.Context, w *watch) {
	w.cancel()
	select {
	case <-w.done:
	case <-ctx.Done():
		w.log.Error("the watch does not stop; leaving it behind")
	}
	d.mu.Lock()
	delete(d.watches, w.spec.ID)
	d.mu.Unlock()
}

// stopAll ends all watches. Those that hang share the patience for one, so that a
// dozen drives that hang do not hold up the end of the process.
func (d *Daemon) stopAll() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	watches := d.current()
	for _, w := range watches {
		w.cancel()
	}
	for _, w := range watches {
		d.stopBefore(ctx, w)
	}
}

// answerRequests carries out what the command line left for the daemon. The
// watch of the target is stopped meanwhile, so that there is one way to change
// the stored state; discovery starts it again.
func (d *Daemon) answerRequests() {
	names, err := d.shared.store.Names(kindRequests)
	if err != nil {
		d.shared.log.Error("requests", "err", err)
	}
	for _, name := range names {
		var r Request
		if found, err := d.shared.store.Load(kindRequests, name, &r); err != nil || !found {
			d.shared.log.Error("request", "name", name, "err", err)
			continue
		}
		if w, ok := d.current()[r.Target]; ok {
			d.stop(w)
		}
		if err := r.Apply(d.shared.store); err != nil {
			d.shared.log.Error("request refused", "target", r.Target, "probe", r.Probe, "asked", r.String(), "err", err)
		} else {
			d.shared.log.Info("request carried out", "target", r.Target, "probe", r.Probe, "asked", r.String())
		}
		if err := d.shared.store.Remove(kindRequests, name); err != nil {
			d.shared.log.Error("remove a request", "err", err)
		}
	}
}

// findings are what one look at the host yields.
type findings struct {
	wanted  map[string]wanted
	ignored []record.Ignored
	// complete is false when the host could not be looked at, so that nothing is
	// to be concluded from what is missing.
	complete bool
}

// devices are those of the targets, once for each target.
func (f findings) devices() []record.Device {
	devices := make([]record.Device, 0, len(f.wanted))
	for _, w := range f.wanted {
		devices = append(devices, w.seen.device)
	}
	return devices
}

// look finds what should be under watch. The error joins what could not be read
// of single devices; the others are found all the same.
func (d *Daemon) look(ctx context.Context, c config.Config) (findings, error) {
	f := findings{wanted: map[string]wanted{}}
	watched := d.current()
	var problems []error
	if c.Devices.Enabled {
		choice, err := device.Choose(d.shared.fs, Rules(c.Devices.Include), Rules(c.Devices.Exclude))
		if choice == nil {
			return f, err
		}
		problems = append(problems, err)
		for _, pick := range choice {
			reason := pick.Reason
			denied := false
			if _, open := watched[pick.Device.ID]; reason == "" && !open {
				reason = measure.Denied(ctx, devicePath(c, pick.Device), pick.Device.Number)
				denied = reason != ""
			}
			if reason != "" && pick.Device.Empty() {
				continue
			}
			if reason != "" {
				f.ignored = append(f.ignored, record.Ignored{Device: pick.Device, Reason: reason, Denied: denied})
				continue
			}
			f.wanted[pick.Device.ID] = d.wantDevice(c, pick.Device)
		}
	}
	f.complete = true
	files := c.Files
	if len(files) == 0 && len(f.wanted) == 0 && c.FallbackFile {
		files = []config.File{{Path: filepath.Join(c.StateDir, fallbackDir), SizeBytes: 1 << 30}}
		if err := os.MkdirAll(files[0].Path, 0o700); err != nil {
			problems = append(problems, err)
			files = nil
		}
	}
	mounted := device.NewFilesystems(d.shared.fs)
	for _, file := range files {
		w, err := d.wantFile(c, mounted, file)
		problems = append(problems, err)
		f.wanted[w.spec.ID] = w
	}
	return f, errors.Join(problems...)
}

func devicePath(c config.Config, dev record.Device) string {
	return filepath.Join(c.HostRoot, "dev", filepath.FromSlash(dev.Name))
}

func (d *Daemon) wantDevice(c config.Config, dev record.Device) wanted {
	start := time.Now()
	subject, err := measure.OfDevice(d.shared.fs, devicePath(c, dev), dev)
	return want(c, subject, collected("conditions", dev.Name, start, err))
}

func (d *Daemon) wantFile(c config.Config, mounted *device.Filesystems, file config.File) (wanted, error) {
	start := time.Now()
	subject, err := measure.OfFile(mounted, file.Path, file.SizeBytes, c.FillBytesPerSecond)
	return want(c, subject, collected("conditions", subject.Device.Name, start, err)), err
}

func want(c config.Config, s measure.Subject, status record.CollectorStatus) wanted {
	return wanted{
		spec: spec{
			Target: s.Target, LockID: s.LockID,
			Probes: c.Probes, Admission: c.Admission, Drift: driftSettings(c, s.File),
		},
		seen: sighting{device: s.Device, conditions: s.Conditions, warnings: s.Warnings, collector: status},
	}
}

func collected(collector, device string, start time.Time, err error) record.CollectorStatus {
	status := record.CollectorStatus{Collector: collector, Device: device, Success: err == nil, Duration: time.Since(start)}
	if err != nil {
		status.Error = err.Error()
	}
	return status
}
