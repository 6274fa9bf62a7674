package traffic

import (
	"context"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Device is a device whose traffic is to be known.
type Device struct {
	ID     string // stable: another device may get the number
	Number string // the kernel's, "259:0"
	// Controllers are those of NVMe that reach it, by name.
	Controllers []string
	// Run says that a run of ours uses it now.
	Run bool
}

// Options say what a Sampler needs.
type Options struct {
	FS sysfs.FS // the host's
	// Devices returns the devices; it is asked once a second, and must not wait. Of those with one
	// number the first counts.
	Devices func() []Device
	// Sample gets what others did to a device, about every 30 s.
	Sample func(Device, record.Traffic)
	// Stall gets a stall when it has ended, or has lasted for 10 s; then again when it ends.
	Stall func(Device, record.Stall)
}

// Sampler samples all devices once a second. Make one with New.
type Sampler struct {
	options Options

	// reading is held while counters are read, so that readings come in the order of their times.
	reading sync.Mutex
	// mu is never held while anything is read.
	mu      sync.Mutex
	devices map[string]*device // by number
	err     error
}

// New returns a sampler that has seen nothing yet.
func New(o Options) *Sampler {
	return &Sampler{options: o, devices: map[string]*device{}}
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

// Err is why the counters could not be read in the last second; nil when they could.
func (s *Sampler) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Status returns what is known of the device with a number; nil when nothing is.
func (s *Sampler) Status(number string) *record.TrafficStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.devices[number]
	if !ok {
		return nil
	}
	status := record.TrafficStatus{Last: d.last}
	status.Stalls, status.StallTotals = d.account.stalls.list()
	return &status
}

// Begin is called before a round of ours on the device with a number, and end after its last I/O.
// What is counted on the device and on the disks below it meanwhile is not others'. work is what
// others asked for before; nil when not known.
func (s *Sampler) Begin(number string) (work *record.Work, end func()) {
	all := s.touched(number)
	s.change(all, func(a *account) { a.ours++ })
	if len(all) > 0 {
		s.mu.Lock()
		work = all[0].account.work()
		s.mu.Unlock()
	}
	return work, func() { s.change(all, func(a *account) { a.ours-- }) }
}

// touched are the device with a number, first, and those below it that are watched; none when
// it is not watched itself.
func (s *Sampler) touched(number string) []*device {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.devices[number]
	if !ok {
		return nil
	}
	all := []*device{d}
	for _, number := range d.source.Below() {
		if below, ok := s.devices[number]; ok {
			all = append(all, below)
		}
	}
	return all
}

// change reads the counters of devices, and then changes whose I/O it is. Counters that cannot be
// read are those of a device that has left, as the next second tells.
func (s *Sampler) change(all []*device, whose func(*account)) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for _, d := range all {
		disk, timing, err := d.source.Read(s.options.FS)
		r := newReading(time.Now(), disk, timing)
		s.mu.Lock()
		if err == nil && d.account.last != nil {
			d.account.take(r, false)
		}
		whose(&d.account)
		s.mu.Unlock()
	}
}

// sample ends a second.
func (s *Sampler) sample(ctx context.Context, nobodys bool) {
	all := s.follow(s.options.Devices())
	for _, d := range s.second(all, nobodys) {
		s.options.Sample(d.Device, s.close(ctx, d))
	}
}

// close ends the interval of a device and returns what it says.
func (s *Sampler) close(ctx context.Context, d *device) record.Traffic {
	s.mu.Lock()
	idle := d.account.idle()
	s.mu.Unlock()
	blind := idle && d.off(ctx, s.options.FS)
	source, err := counters.FindSource(s.options.FS, d.Number) // arrays grow
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil { // else it counts as it did
		d.source = source
	}
	t := d.account.close(blind)
	d.last = &t
	return t
}

// follow makes the devices under watch match those that are wanted.
func (s *Sampler) follow(wanted []Device) []*device {
	all := make([]*device, 0, len(wanted))
	devices := make(map[string]*device, len(wanted))
	for _, w := range wanted {
		if d, ok := devices[w.Number]; ok { // another target on it
			d.Run = d.Run || w.Run
			continue
		}
		d, ok := s.devices[w.Number] // nobody else writes it
		if !ok || d.ID != w.ID {
			d = newDevice(s.options.FS, w.Number)
		}
		d.Device = w
		devices[w.Number] = d
		all = append(all, d)
	}
	for _, d := range all {
		for _, number := range d.source.Below() {
			if below, ok := devices[number]; ok {
				below.Run = below.Run || d.Run
			}
		}
	}
	s.mu.Lock()
	s.devices = devices
	s.mu.Unlock()
	return all
}

// second reads the counters of all devices, tells of stalls, and returns the devices whose interval
// is over.
func (s *Sampler) second(all []*device, nobodys bool) (due []*device) {
	s.reading.Lock()
	disks, err := counters.ReadDisks(s.options.FS)
	now := time.Now()
	stalls := make([][]record.Stall, len(all))
	for i, d := range all {
		disk, timing, ok := d.source.In(disks)
		var over bool
		stalls[i], over = d.second(s, newReading(now, disk, timing), ok, nobodys)
		if over {
			due = append(due, d)
		}
	}
	s.reading.Unlock()
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	for i, d := range all {
		for _, stall := range stalls[i] {
			s.options.Stall(d.Device, stall)
		}
	}
	return due
}
