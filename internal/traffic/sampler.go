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
	// Second gets what was read at the end of each second, before Stall is told of it; may be nil. It must not wait.
	Second func(Second)
}

// Second is what was read at the end of a second.
type Second struct {
	Time time.Time
	// StoodStill says that this process, the machine or a CPU stood still for a while.
	StoodStill bool
	Devices    []Counted // those that are there
}

// Counted is what a device has counted since it appeared, our own I/O included.
type Counted struct {
	Device
	Disk   counters.Disk
	Timing counters.Timing
	// Stall is the cause of the stall that goes on; empty when none does.
	Stall record.StallCause
	// Ours says that a round or a run of ours used the device in this second.
	Ours bool
}

// Sampler samples all devices once a second. Make one with New. Begin of a nil Sampler knows no device.
type Sampler struct {
	options Options

	// reading is held while counters are read, so that readings come in the order of their times.
	reading sync.Mutex
	// mu is never held while anything is read.
	mu      sync.Mutex
	devices map[string]*device // by number
	rounds  map[string]int     // of ours in progress, by number
	took    time.Duration
	err     error
}

// New returns a sampler that has seen nothing yet.
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

// Last is how long the last second's reading of all counters took, 0 before the first, and why it
// failed; nil when it did not.
func (s *Sampler) Last() (took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took, s.err
}

// Status returns what is known of the device with a number; nil when nothing is.
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

// Begin is called before a round of ours on the device with a number, and end after its last I/O.
// What is counted on the device and on the disks below it meanwhile is not others'. work is what
// others asked for before; nil when not known.
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

// round reads the counters of what a round touches, and then notes that it begins or has ended.
// Counters that cannot be read are those of a device that has left, as the next second tells.
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

// touched are the device with a number and those below it, as far as they are under watch.
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

// ours reports whether a round of ours is in progress on a device. It needs s.mu.
func (s *Sampler) ours(d *device) bool {
	return s.rounds[d.Number] > 0 || slices.ContainsFunc(d.above, func(number string) bool { return s.rounds[number] > 0 })
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
	runs := map[string]bool{}
	for _, w := range wanted {
		runs[w.Number] = runs[w.Number] || w.Run
		if devices[w.Number] != nil { // another target on it
			continue
		}
		d, ok := s.devices[w.Number] // nobody else writes it
		if !ok || d.ID != w.ID {
			d = newDevice(s.options.FS, w)
		}
		d.Controllers = w.Controllers
		devices[w.Number] = d
		all = append(all, d)
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

// second reads the counters of all devices, tells of stalls, and returns the devices whose interval
// is over.
func (s *Sampler) second(all []*device, nobodys bool) (due []*device) {
	s.reading.Lock()
	began := time.Now()
	disks, err := counters.ReadDisks(s.options.FS)
	now := time.Now()
	stalls, counted := make([][]record.Stall, len(all)), make([]Counted, 0, len(all))
	for i, d := range all {
		disk, timing, ok := d.source.In(disks)
		var over bool
		stalls[i], over = d.second(s, newReading(now, disk, timing), ok, nobodys)
		if ok {
			counted = append(counted, Counted{d.Device, disk, timing, d.account.stalls.cause(), d.account.ours})
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
		for _, stall := range stalls[i] {
			s.options.Stall(d.Device, stall)
		}
	}
	return due
}
