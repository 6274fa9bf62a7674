package admit

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Usage holds the kernel's I/O counters of a device.
type Usage struct {
	// Busy is the time during which at least one I/O was in flight.
	Busy time.Duration
	// Served is the sum of the latencies of all I/Os; 0 if not known.
	Served time.Duration
	// Queued is the number of I/Os in flight, integrated over time.
	Queued time.Duration
	// InFlight is the number of I/Os in flight now.
	InFlight int64
	// IOs is the number of completed I/Os, including ours.
	IOs uint64
	// Bytes is how many bytes these I/Os moved.
	Bytes uint64
}

// Host reads the load of a device and of its host.
type Host interface {
	Usage() (Usage, error)
	// IOPressure returns the share (0 to 1) of the last 10 s in which some task waited for I/O. It returns
	// fs.ErrNotExist if the kernel does not count this.
	IOPressure() (float64, error)
	// Asleep reports whether the device is suspended because it was idle.
	Asleep() (bool, error)
}

// Gate admits rounds to one device. It is not safe for concurrent use.
type Gate struct {
	// Spins says that the device is a hard disk.
	Spins bool
	// Most is the most work of others that the device was seen to do. A caller may set it to a stored
	// value.
	Most Capacity

	host   Host
	limits Limits
	last   *sample
	seen   load // at the last look over at least minSpan
	blind  bool
}

// load is the load of others over a span of time.
type load struct {
	utilisation, inFlight float64 // negative when not known
	work                  float64 // share (0 to 1) of the most work seen
}

// unseen returns the load of a device that has not been observed for long enough. Its capacity is unknown,
// so its work may be all that it can do.
func unseen() load { return load{utilisation: -1, inFlight: -1, work: 1} }

// minSpan is the shortest time over which utilisation is meaningful: within a millisecond, a single I/O of
// others would count as full utilisation.
const minSpan = 500 * time.Millisecond

// sample holds the counters as of the end of our last I/O.
type sample struct {
	at    time.Time
	usage Usage
}

// NewGate returns a gate that has not observed anything yet. With a nil host, it admits everything and
// reports an unknown load; this is for files that are not on a block device of this host.
func NewGate(host Host, limits Limits) *Gate {
	return &Gate{host: host, limits: limits, seen: unseen()}
}

// Start takes the first sample, so that Admit knows the load before the first round.
func (g *Gate) Start(now time.Time) error {
	if g.host == nil {
		return nil
	}
	usage, err := g.host.Usage()
	if err != nil {
		return fmt.Errorf("read the device's load: %w", err)
	}
	g.last = &sample{now, usage}
	return nil
}

// Admit returns the load of others on the device, and an error that is ErrBusy if it exceeds the limits.
func (g *Gate) Admit(now time.Time) (record.Load, error) {
	load := record.UnknownLoad()
	if g.host == nil {
		return load, nil
	}
	usage, err := g.host.Usage()
	if err != nil {
		return load, fmt.Errorf("read the device's load: %w", err)
	}
	load.InFlight = usage.InFlight
	if g.last != nil && now.Sub(g.last.at) >= minSpan {
		g.look(now, usage)
	}
	if !g.blind {
		load.Utilisation, load.MeanInFlight = g.seen.utilisation, g.seen.inFlight
	}
	switch pressure, err := g.host.IOPressure(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return load, fmt.Errorf("read the host's I/O pressure: %w", err)
	default:
		load.IOPressure = pressure
	}
	g.last = &sample{now, usage}
	err = g.limits.given(load)
	if err == nil {
		err = g.limits.left(load, g.seen.work, g.Spins)
	}
	return load, err
}

// Forget makes the next Admit go by the load seen earlier. It is for a time in which the device did not serve only others,
// such as a run of ours, whose work must not count as what others can have it do.
func (g *Gate) Forget() { g.last = nil }

// look computes the load since our last I/O. In that time, the device served only others.
func (g *Gate) look(now time.Time, usage Usage) {
	before := g.last.usage
	if usage.IOs < before.IOs { // the device was removed, and its counters started again
		g.seen = unseen()
		return
	}
	span := now.Sub(g.last.at).Seconds()
	busy := since(usage.Busy, before.Busy)
	if usage.Served > 0 {
		// From Linux 5.0 to 6.9, every lone I/O adds a whole clock tick to the busy time, so that 200
		// short ones a second look like 80 % ("block: support to account io_ticks precisely", 6.10).
		busy = min(busy, since(usage.Served, before.Served))
	}
	g.seen = load{
		utilisation: min(1, busy.Seconds()/span),
		inFlight:    since(usage.Queued, before.Queued).Seconds() / span,
		work:        g.Most.share(now, float64(usage.IOs-before.IOs)/span, float64(usage.Bytes-min(usage.Bytes, before.Bytes))/span),
	}
}

// since subtracts times that the kernel keeps as 32-bit milliseconds. If the later one is smaller, the
// counter has wrapped around.
func since(after, before time.Duration) time.Duration {
	if after < before {
		after += (math.MaxUint32 + 1) * time.Millisecond
	}
	return after - before
}

// MayForce reports whether a small round may run although Admit returned err. It may if the exceeded limit
// is one of this package, and the device is neither a hard disk nor asleep.
func (g *Gate) MayForce(err error) bool {
	var busy *busyError
	if !errors.As(err, &busy) || !busy.ours || g.Spins {
		return false
	}
	asleep, err := g.host.Asleep()
	return err == nil && !asleep
}

// Done records that our I/Os have ended; ours is their number. It completes load with the I/Os that others
// did meanwhile.
func (g *Gate) Done(now time.Time, ours int64, load *record.Load) error {
	if g.host == nil {
		return nil
	}
	usage, err := g.host.Usage()
	if err != nil {
		return fmt.Errorf("read the device's load: %w", err)
	}
	if g.last != nil && usage.IOs >= g.last.usage.IOs {
		counted := int64(usage.IOs - g.last.usage.IOs)
		load.OthersIOs = max(0, counted-ours)
		if g.blind = ours > 0 && counted < ours/2; g.blind {
			load.Utilisation, load.MeanInFlight, load.OthersIOs = -1, -1, -1
		}
	}
	g.last = &sample{now, usage}
	return nil
}

// Blind reports whether the kernel did not count most of our last I/Os. Those of others are then not
// counted either: the device's statistics are switched off (queue/iostats in sysfs), or a cache answered
// in its place.
func (g *Gate) Blind() bool { return g.blind }
