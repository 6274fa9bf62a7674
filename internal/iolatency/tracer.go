package iolatency

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// readInterval is how often counters are read. Even the fastest device takes much longer to make a 32-bit
// counter wrap around.
const readInterval = 10 * time.Second

// Device says how the I/O of a device is timed.
type Device struct {
	// ID identifies the device, whereas another one may get its number later. It may be empty.
	ID string
	// Requests says that the device has a request queue. A device without one is made of other devices, or of
	// memory.
	Requests bool
	// Run says that a run of ours uses the device now.
	Run bool
}

// Tracer times the I/O of devices. Create one with Start. It is safe for concurrent use.
type Tracer struct {
	mu      sync.Mutex
	kernel  *kernel
	places  places
	free    []int // unused slots
	devices map[string]*device
	full    map[string]bool
	cgroups cgroups
	closed  bool
	missed  map[record.IOMiss]uint64 // as last returned by Missed
	limited uint64                   // slow I/Os beyond the limit of their device
	untold  uint64                   // slow I/Os for which there was no room
	read    time.Time                // when all devices were last read
}

// Start loads the programs. A non-nil error is an *UnavailableError.
func Start() (*Tracer, error) {
	k, err := load()
	if err != nil {
		return nil, unavailable(err)
	}
	t := &Tracer{kernel: k, places: places{memory: k.devices}, devices: map[string]*device{}, full: map[string]bool{}, cgroups: cgroups{root: mounted()}}
	for slot := slots; slot > 0; slot-- {
		t.free = append(t.free, slot)
	}
	return t, nil
}

// Close unloads the programs, as the end of the process does. What was counted stays available.
func (t *Tracer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.kernel.close()
}

// Follow makes the timed devices match wanted, whose keys are device numbers ("259:0"). The histograms of a
// device that was not wanted in between, or that has another ID, start again at zero. Call Follow once a second:
// it also reads the counters before they wrap around.
func (t *Tracer) Follow(wanted map[string]Device) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for number, d := range t.devices {
		if w, ok := wanted[number]; !ok || w.ID != d.id {
			errs = append(errs, t.places.remove(d.at))
			t.free = append(t.free, d.slot)
			delete(t.devices, number)
		}
	}
	if now := time.Now(); now.Sub(t.read) >= readInterval {
		t.read = now
		for _, d := range t.devices {
			d.read(t.kernel)
		}
	}
	clear(t.full)
	bios := uint32(0)
	for number, w := range wanted {
		if !w.Requests {
			bios++
		}
		errs = append(errs, t.follow(number, w))
	}
	_, err := t.kernel.control.WriteAt(binary.NativeEndian.AppendUint32(nil, bios), atBios)
	return errors.Join(append(errs, err, t.kernel.watchBios(bios > 0))...)
}

// follow starts timing a device, or updates whether it is paused.
func (t *Tracer) follow(number string, w Device) error {
	d, ok := t.devices[number]
	if !ok {
		var err error
		if d, err = t.begin(number, w.ID); d == nil {
			return err
		}
	}
	if d.paused == w.Run {
		return nil
	}
	d.paused = w.Run
	return t.places.pause(d.at, w.Run)
}

// begin starts timing a device. It returns nil when there is no room.
func (t *Tracer) begin(number, id string) (*device, error) {
	var major, minor uint32
	if _, err := fmt.Sscanf(number, "%d:%d", &major, &minor); err != nil {
		return nil, fmt.Errorf("follow the I/O of the device %q: its number is not major:minor: %w", number, err)
	}
	if len(t.free) == 0 {
		t.full[number] = true
		return nil, nil
	}
	slot := t.free[len(t.free)-1]
	d := newDevice(id, slot, t.kernel.stripes)
	d.read(t.kernel) // skip what the slot counted for earlier devices
	d.counted = [operations][stages]counts{}
	at, watch, ok, err := t.places.add(major<<20|minor, slot)
	if !ok {
		t.full[number] = true
		return nil, nil
	}
	t.free = t.free[:len(t.free)-1]
	d.at, d.watch, d.threshold.slow = at, watch, firstSlow
	err = errors.Join(err, t.places.tell(at, firstSlow, mostTold))
	t.devices[number] = d
	return d, err
}

// Of returns what is known of the device with the given number; nil when it is not followed.
func (t *Tracer) Of(number string) *record.IOLatency {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full[number] {
		return &record.IOLatency{Unavailable: record.IOLatencyFull}
	}
	d, ok := t.devices[number]
	if !ok {
		return nil
	}
	d.read(t.kernel)
	return &record.IOLatency{Histograms: d.histograms()}
}

// Missed returns how many I/Os of the followed devices were not counted, and how many events of the whole
// machine were not seen, since Start, by reason. All reasons are present. One I/O may count under two of them.
// MissRecursion is 0 if this process may not read it (before Linux 5.19, without capabilities).
func (t *Tracer) Missed() map[record.IOMiss]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.missed
	}
	var counted [8 * misses]byte
	if _, err := t.kernel.control.ReadAt(counted[:], atMissed); err != nil {
		return nil // cannot happen: it is memory
	}
	all := map[record.IOMiss]uint64{record.MissRecursion: 0}
	for i, why := range kernelMisses() {
		all[why] = binary.NativeEndian.Uint64(counted[8*i:])
	}
	for _, p := range t.kernel.all() {
		if stats, err := p.Stats(); err == nil {
			all[record.MissRecursion] += stats.RecursionMisses
		}
	}
	t.missed = all
	return all
}

// Unreported returns how many slow I/Os were missing from what Slow has returned since Start, by reason. All reasons are
// present.
func (t *Tracer) Unreported() map[record.IOUnreported]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return map[record.IOUnreported]uint64{record.UnreportedRoom: t.untold, record.UnreportedLimit: t.limited}
}

// Ran returns how long the programs have run since Start, for all I/O of the machine. The kernel counts that
// only while kernel.bpf_stats_enabled is 1; otherwise it is 0.
func (t *Tracer) Ran() (d time.Duration) {
	for _, p := range t.kernel.all() {
		if stats, err := p.Stats(); err == nil {
			d += stats.Runtime
		}
	}
	return d
}
