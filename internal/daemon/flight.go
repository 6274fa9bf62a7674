package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// flight is the flight recorder and its kept recordings. mu may be locked while the recorder's lock is held, but not
// the other way round.
type flight struct {
	*recorder.Recorder
	// The goroutine of the sampler owns host and stalling. stalling holds the start of each stall that was reported
	// and is still in progress, by device.
	host     *recorder.HostReader
	stalling map[string]time.Time

	mu       sync.Mutex
	settings recorder.Settings
	kept     []state.Recording // as they were written to the state directory
	written  uint64
	failed   uint64
	lost     time.Time                // when a recording was lost; zero once that has been reported for long enough
	devices  map[string]record.Device // all devices seen recently, by id
	seen     map[string]time.Time
}

func newFlight(fs sysfs.FS, s recorder.Settings) *flight {
	f := &flight{host: recorder.NewHostReader(fs), stalling: map[string]time.Time{}, devices: map[string]record.Device{}, seen: map[string]time.Time{}}
	f.Recorder = recorder.New(recorder.Options{Clock: recorder.SystemClock(), Describe: f.describe, Taken: f.taken})
	f.configure(s)
	return f
}

func (f *flight) configure(s recorder.Settings) {
	f.Switch(s.Enabled)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings = s
}

// names reports whether slow I/Os are recorded along with who submitted them.
func (f *flight) names() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings.Enabled && f.settings.Names
}

// describe returns what is known about a device, present or not.
func (f *flight) describe(id string) record.Device {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.devices[id]; ok {
		return d
	}
	return record.Device{ID: id}
}

// see records the current devices, and returns those whose link has changed.
func (f *flight) see(devices []record.Device, now time.Time) (relinked map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	relinked = map[string]bool{}
	for _, d := range devices {
		relinked[d.ID] = linkOf(f.devices[d.ID]) != linkOf(d)
		f.devices[d.ID], f.seen[d.ID] = d, now
	}
	for id, at := range f.seen {
		if now.Sub(at) > forgetAfter {
			delete(f.devices, id)
			delete(f.seen, id)
		}
	}
	return relinked
}

// linkOf returns the rate that the PCIe link of a device trained to; zero without a link.
func linkOf(d record.Device) record.LinkRate {
	if d.Link == nil {
		return record.LinkRate{}
	}
	return d.Link.Current()
}

// forgetAfter is when a device that is gone is forgotten. It is longer than the ring of the recorder reaches back.
const forgetAfter = 15 * time.Minute

// recordOn writes recordings when they are due until ctx ends, and then writes the incomplete ones.
func (d *Daemon) recordOn(ctx context.Context) error {
	for schedule.Pause(ctx, time.Second) {
		d.look(time.Now())
		for _, rec := range d.flight.Due() {
			d.keepRecording(rec, saveTimeout)
		}
		d.dropRecordings()
		d.forgetLost(time.Now())
	}
	for _, rec := range d.flight.Rest("the daemon stopped") {
		d.keepRecording(rec, lastSaveTimeout)
	}
	return nil
}

// look records the current devices and their readings.
func (d *Daemon) look(now time.Time) {
	devices := d.present()
	relinked := d.flight.see(devices, now)
	for _, device := range devices {
		r := d.health.reading(device.ID)
		r.Link = linkOf(device)
		switch {
		case relinked[device.ID]:
			r.Time = now
		case r.Time.IsZero():
			continue
		}
		d.flight.Read(device.ID, r)
	}
}

// present returns the devices of the watched targets.
func (d *Daemon) present() []record.Device {
	var all []record.Device
	for _, w := range d.current() {
		all = append(all, w.deviceNow())
	}
	return all
}

// tookSecond passes a second to the recorder.
func (d *Daemon) tookSecond(s traffic.Second) { d.flight.Take(s, d.flight.host.Read()) }
