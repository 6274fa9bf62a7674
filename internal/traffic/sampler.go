package traffic

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Device is a device to watch.
type Device struct {
	ID     string // stable, whereas another device may get the number later
	Number string // the kernel's device number, such as "259:0"
	// Controllers lists the names of the NVMe controllers that reach the device.
	Controllers []string
	// Run says that a run of ours uses the device now.
	Run bool
}

// Options configure a Sampler.
type Options struct {
	FS sysfs.FS // the files of the host
	// Devices returns the devices to watch. It is called once a second and must not block. If several have the
	// same number, the first one is used, and Run applies if any of them sets it.
	Devices func() []Device
	// Sample receives what others did to a device, about every 30 s.
	Sample func(Device, record.Traffic)
	// Stall receives each stall when it ends. A stall that lasts for 10 s is also reported then, while it is in
	// progress.
	Stall func(Device, record.Stall)
	// HeldBack receives since when a round of ours has waited although the device is idle, once a second while that goes on: then until
	// is zero. It receives it once more, with until when, when that is over. It may be nil.
	HeldBack func(d Device, since, until time.Time)
	// Second receives what was read at the end of each second, before Stall is called for it. It may be nil. It
	// must not block.
	Second func(Second)
}

// Second is what was read at the end of a second.
type Second struct {
	Time time.Time
	// StoodStill says that this process, the machine or a CPU stood still for a while.
	StoodStill bool
	Devices    []Counted // those that are present
}

// Counted is what a device has counted since it appeared, including our own I/O.
type Counted struct {
	Device
	Disk   counters.Disk
	Timing counters.Timing
	// Stall is the cause of the stall in progress; empty when there is none.
	Stall record.StallCause
	// Ours says that a round or a run of ours used the device in this second.
	Ours bool
	// Unusable says why the counts mean nothing; empty when they mean something.
	Unusable string
}

// Sampler samples all devices once a second. Create one with New. Begin may be called on a nil Sampler; it then
// does nothing.
type Sampler struct {
	options Options

	// reading is held while counters are read, so that readings are processed in the order of their times.
	reading sync.Mutex
	// mu is never held while a file is read.
	mu      sync.Mutex
	devices map[string]*device // by number
	rounds  map[string]int     // rounds of ours in progress, by device number
	took    time.Duration
	err     error
}

// New returns a Sampler that has not read any counters yet.
func New(o Options) *Sampler {
	return &Sampler{options: o, devices: map[string]*device{}, rounds: map[string]int{}}
}

// Run samples until ctx ends.
func (s *Sampler) Run(ctx context.Context) error {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	c := clock{host: s.options.FS}
	for {
		if now := time.Now(); c.beat(now) {
			s.sample(ctx, c.end(now))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-beats.C:
		}
	}
}

// Last returns how long reading all counters took in the last second, 0 before the first one, and why it
// failed, if it did.
func (s *Sampler) Last() (took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took, s.err
}

// Status returns what is known of the device with the given number; nil when the device is not watched.
func (s *Sampler) Status(number string) *record.TrafficStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.devices[number]
	if !ok {
		return nil
	}
	status := record.TrafficStatus{Last: d.last, HeldBack: d.held}
	status.Stalls, status.StallTotals = d.account.stalls.list()
	return &status
}

// Begin must be called before a round of ours on the device with the given number, and end after the last I/O
// of the round. What is counted in between, on the device and on the disks below it, is not attributed to
// others. work is what others asked for before the round; nil when unknown.
func (s *Sampler) Begin(number string) (work *record.Work, end func()) {
	if s == nil || number == "" {
		return nil, func() {}
	}
	s.round(number, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.devices[number]; ok {
		work = d.account.work()
	}
	return work, func() { s.round(number, -1) }
}

// round reads the counters of all devices that a round touches, then notes that the round begins or has ended.
// If the counters of a device cannot be read, the device is gone, which the next second notes.
func (s *Sampler) round(number string, change int) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for _, d := range s.touched(number) {
		disk, timing, err := d.source.Read(s.options.FS)
		s.mu.Lock()
		if err == nil && d.account.last != nil {
			d.account.take(newReading(time.Now(), disk, timing), !s.ours(d))
		}
		d.account.round = true
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rounds[number] += change; s.rounds[number] == 0 {
		delete(s.rounds, number)
	}
}

// touched returns the watched devices that a round on number touches: the device itself and the disks below it.
func (s *Sampler) touched(number string) (all []*device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.devices {
		if d.Number == number || slices.Contains(d.above, number) {
			all = append(all, d)
		}
	}
	return all
}

// ours reports whether a round of ours is in progress on a device or on one built on it. The caller must hold
// s.mu.
func (s *Sampler) ours(d *device) bool {
	return s.rounds[d.Number] > 0 || slices.ContainsFunc(d.above, func(number string) bool { return s.rounds[number] > 0 })
}

// sample ends a second.
func (s *Sampler) sample(ctx context.Context, nobodys bool) {
	all := s.follow(ctx, s.options.Devices())
	for _, d := range s.second(all, nobodys) {
		s.options.Sample(d.Device, s.close(ctx, d))
	}
}

// close ends the interval of a device and returns its result.
func (s *Sampler) close(ctx context.Context, d *device) record.Traffic {
	s.mu.Lock()
	idle := d.account.idle()
	s.mu.Unlock()
	d.blind = idle && d.off(ctx, s.options.FS)
	source, err := counters.FindSource(s.options.FS, d.Number) // a RAID array may have grown
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil { // otherwise the old source stays
		d.source = source
	}
	t := d.account.close(d.blind)
	d.last = &t
	return t
}

// follow makes the watched devices match wanted and returns them.
func (s *Sampler) follow(ctx context.Context, wanted []Device) []*device {
	all := make([]*device, 0, len(wanted))
	devices := make(map[string]*device, len(wanted))
	runs := map[string]bool{}
	for _, w := range wanted {
		runs[w.Number] = runs[w.Number] || w.Run
		if devices[w.Number] != nil { // another target on the same device
			continue
		}
		d, ok := s.devices[w.Number] // only this goroutine writes s.devices
		if !ok || d.ID != w.ID {
			d = newDevice(ctx, s.options.FS, w)
		}
		d.Controllers = w.Controllers
		devices[w.Number] = d
		all = append(all, d)
	}
	for number, d := range s.devices {
		if d.held != nil && devices[number] != d && s.options.HeldBack != nil { // nobody watches any more whether it still is
			s.options.HeldBack(d.Device, d.held.Since, time.Now())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range all {
		d.above, d.Run = nil, runs[d.Number]
	}
	for _, d := range all {
		for _, number := range d.source.Below() {
			if below, ok := devices[number]; ok {
				below.above = append(below.above, d.Number)
				below.Run = below.Run || runs[d.Number]
			}
		}
	}
	s.devices = devices
	return all
}

// second reads the counters of all devices, reports stalls, and returns the devices whose interval is over.
func (s *Sampler) second(all []*device, nobodys bool) (due []*device) {
	s.reading.Lock()
	began := time.Now()
	disks, err := counters.ReadDisks(s.options.FS)
	now := time.Now()
	stalls, counted := make([][]record.Stall, len(all)), make([]Counted, 0, len(all))
	heldBefore := make([]*record.HeldBack, len(all))
	for i, d := range all {
		heldBefore[i] = d.held
		disk, timing, ok := d.source.In(disks)
		var over bool
		stalls[i], over = d.second(s, newReading(now, disk, timing), ok, nobodys)
		if ok {
			counted = append(counted, Counted{d.Device, disk, timing, d.account.stalls.cause(), d.account.ours, d.unusable()})
		}
		if over {
			due = append(due, d)
		}
	}
	s.reading.Unlock()
	s.mu.Lock()
	s.took, s.err = now.Sub(began), err
	s.mu.Unlock()
	if s.options.Second != nil {
		s.options.Second(Second{Time: now, StoodStill: nobodys, Devices: counted})
	}
	for i, d := range all {
		switch before := heldBefore[i]; {
		case s.options.HeldBack == nil:
		case d.held != nil:
			s.options.HeldBack(d.Device, d.held.Since, time.Time{})
		case before != nil:
			s.options.HeldBack(d.Device, before.Since, now)
		}
		for _, stall := range stalls[i] {
			s.options.Stall(d.Device, stall)
		}
	}
	return due
}
