package daemon

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// newSampler returns the sampler of the traffic of the watched devices.
func (d *Daemon) newSampler() *traffic.Sampler {
	said := map[string]string{} // why the traffic of a device is not known, by device number
	return traffic.New(traffic.Options{
		FS: d.shared.fs, Devices: d.sampled,
		Sample: func(dev traffic.Device, t record.Traffic) { d.tookTraffic(dev, t, said) },
		Second: d.tookSecond, Stall: d.tookStall, HeldBack: d.tookHeldBack,
	})
}

// sampled returns the watched devices, including those below files.
func (d *Daemon) sampled() []traffic.Device {
	watches := slices.DeleteFunc(slices.Collect(maps.Values(d.current())), func(w *watch) bool { return w.spec.Number == "" })
	ids := make([]string, len(watches))
	for i, w := range watches {
		ids[i] = w.spec.LockID
	}
	runs := d.shared.locks.noted(ids)
	all := make([]traffic.Device, len(watches))
	for i, w := range watches {
		device := w.deviceNow()
		all[i] = traffic.Device{ID: device.ID, Number: w.spec.Number, Controllers: device.Controllers, Run: runs[w.spec.LockID]}
	}
	return all
}

// tookTraffic passes on the traffic of a device in the last interval. Only the goroutine of the sampler calls it.
func (d *Daemon) tookTraffic(dev traffic.Device, t record.Traffic, said map[string]string) {
	d.judgeTraffic(dev.ID, t)
	before := said[dev.Number]
	said[dev.Number] = t.Unusable
	log := d.shared.log.With("id", dev.ID)
	switch {
	case t.Unusable == before:
	case t.Unusable != "":
		log.Info("the traffic of others is not known now", "why", t.Unusable)
	default:
		log.Info("the traffic of others is known again", "was", before)
	}
}

// tookStall judges a stall, and logs it. If a stall was reported while it was in progress, its end is reported as
// well. This includes stalls that turn out to have another cause, such as a discard.
func (d *Daemon) tookStall(dev traffic.Device, s record.Stall) {
	explained := !s.Telling() && d.flight.stalling[dev.ID].Equal(s.Start)
	delete(d.flight.stalling, dev.ID)
	if s.Telling() && s.Ongoing {
		d.flight.stalling[dev.ID] = s.Start
	}
	if s.Telling() || explained {
		d.recordStall(dev, s)
	}
	if w := d.ofDevice(dev.ID); w != nil {
		d.judge(func(n *judge.Node) { n.Stall(w.spec.ID, s) })
	}
	log := d.shared.log.With("id", dev.ID, "since", s.Start, "seconds", s.Seconds(), "in_flight", s.InFlight)
	switch {
	case s.Telling() && s.Ongoing:
		log.Warn("the device stalls: it has completed no I/O since")
	case s.Telling():
		log.Warn("the device stalled: it completed no I/O for a while")
	case explained:
		log.Info("the device completes I/O again: it did not stall", "cause", s.Cause)
	default:
		log.Debug("no I/O completed for a while", "cause", s.Cause)
	}
}

// tookHeldBack judges that this machine holds back a round of ours, on the device or on a file on it.
func (d *Daemon) tookHeldBack(dev traffic.Device, since, until time.Time) {
	for _, w := range d.current() {
		if w.spec.ID == dev.ID || w.spec.LockID == dev.ID {
			d.judge(func(n *judge.Node) { n.HeldBack(w.spec.ID, since, until) })
		}
	}
}

// fillTraffic adds the traffic of the targets to a snapshot.
func (d *Daemon) fillTraffic(s *record.Snapshot) {
	for i, t := range s.Targets {
		s.Targets[i].Traffic = d.shared.traffic.Status(t.Device.Number)
	}
	if took, err := d.shared.traffic.Last(); took > 0 {
		status := collected("traffic", "", time.Now(), err)
		status.Duration = took
		s.Collectors = append(s.Collectors, status)
	}
}
