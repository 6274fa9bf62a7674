package admit

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Usage is what the kernel has counted for a device so far.
type Usage struct {
	// Busy is the time with at least one I/O in flight.
	Busy time.Duration
	// Served is the sum over all I/Os of the time each took; 0 where it is not known.
	Served time.Duration
	// Queued is the sum over time of the I/Os in flight.
	Queued time.Duration
	// InFlight is the number of I/Os in flight now.
	InFlight int64
	// IOs is the number of completed I/Os, ours included.
	IOs uint64
	// Bytes is what they moved.
	Bytes uint64
}

// Host reads what admission looks at.
type Host interface {
	Usage() (Usage, error)
	// IOPressure returns the share (0 to 1) of the last 10 s in which some task
	// waited for I/O; fs.ErrNotExist where the kernel does not count it.
	IOPressure() (float64, error)
	// Asleep reports whether the device is suspended for want of work.
	Asleep() (bool, error)
}

// Gate admits rounds to one device. It is not safe for concurrent use.
type Gate struct {
	// Spins says that the device is a hard disk.
	Spins bool
	// Most is the most work of others that the device was seen to do. It may be given what was kept of it.
	Most Capacity

	host   Host
	limits Limits
	last   *sample
	seen   load // as last seen over a span worth it
	blind  bool
}

// load is what others did over a span.
type load struct {
	utilisation, inFlight float64 // negative when not known
	work                  float64 // share of the most that was seen
}

// unseen is the load of a device that was not looked at for long enough. As nobody knows how
// much it can do, it may be all of it.
func unseen() load { return load{utilisation: -1, inFlight: -1, work: 1} }

// minSpan is the shortest time over which utilisation means something: over a
// millisecond, a single I/O of others is all of it.
const minSpan = 500 * time.Millisecond

// sample is what was counted when our last I/O had ended.
type sample struct {
	at    time.Time
	usage Usage
}

// NewGate returns a gate that has seen nothing yet. A nil host admits everything
// and knows no load: for files on what is no block device of this host.
func NewGate(host Host, limits Limits) *Gate {
	return &Gate{host: host, limits: limits, seen: unseen()}
}

// Start takes the first sample, so that the load before the first round is known.
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

// Admit returns what others do to the device, and an error that is ErrBusy when
// that is more than the limits allow.
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

// look takes what the device did since our last I/O: it served others alone.
func (g *Gate) look(now time.Time, usage Usage) {
	before := g.last.usage
	if usage.IOs < before.IOs { // it was away, and counts anew
		g.seen = unseen()
		return
	}
	span := now.Sub(g.last.at).Seconds()
	busy := since(usage.Busy, before.Busy)
	if usage.Served > 0 {
		// From Linux 5.0 to 6.9 each lone I/O counts as a whole tick of the clock in the
		// busy time, so that 200 short ones a second look like 80 %
		// ("block: support to account io_ticks precisely", 6.10).
		busy = min(busy, since(usage.Served, before.Served))
	}
	g.seen = load{
		utilisation: min(1, busy.Seconds()/span),
		inFlight:    since(usage.Queued, before.Queued).Seconds() / span,
		work:        g.Most.share(now, float64(usage.IOs-before.IOs)/span, float64(usage.Bytes-min(usage.Bytes, before.Bytes))/span),
	}
}

// since subtracts times that the kernel keeps as 32-bit milliseconds: a smaller one later
// started again at zero.
func since(after, before time.Duration) time.Duration {
	if after < before {
		after += (math.MaxUint32 + 1) * time.Millisecond
	}
	return after - before
}

// MayForce reports whether a small round may go in although Admit has returned err: by a
// limit of this package, on a device that neither is a hard disk nor sleeps.
func (g *Gate) MayForce(err error) bool {
	var busy *busyError
	if !errors.As(err, &busy) || !busy.ours || g.Spins {
		return false
	}
	asleep, err := g.host.Asleep()
	return err == nil && !asleep
}

// Done is told that our I/Os have ended: ours is how many there were. It
// completes load with what others did meanwhile.
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

// Blind reports whether most of our last I/Os were not counted, so that those of
// others are not either: the device's statistics are switched off (queue/iostats in
// sysfs), or a cache answered in its place.
func (g *Gate) Blind() bool { return g.blind }
