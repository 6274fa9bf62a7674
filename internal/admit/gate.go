package admit

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ErrBusy says that a device is not to be touched now. The text tells why.
var ErrBusy = errors.New("busy")

// busyError is an ErrBusy with its reason.
type busyError struct{ reason string }

func (e *busyError) Error() string { return ErrBusy.Error() + ": " + e.reason }

func (*busyError) Is(target error) bool { return target == ErrBusy }

func busy(format string, args ...any) error { return &busyError{fmt.Sprintf(format, args...)} }

// Why returns what an ErrBusy says beyond being one, for places that say so already.
func Why(err error) string {
	var busy *busyError
	if errors.As(err, &busy) {
		return busy.reason
	}
	return err.Error()
}

// Limits above which a device is left alone.
type Limits struct {
	// MaxUtilisation is the share (0 to 1) of time others may keep the device busy.
	MaxUtilisation float64
	// MaxInFlight is how many I/Os of others may be in flight.
	MaxInFlight int64
	// MaxIOPressure is the share (0 to 1) of time some task may wait for I/O.
	MaxIOPressure float64
}

// DefaultLimits are those that users get.
func DefaultLimits() Limits { return Limits{MaxUtilisation: 0.8, MaxInFlight: 32, MaxIOPressure: 0.6} }

// Usage is what the kernel has counted for a device so far.
type Usage struct {
	// Busy is the time with at least one I/O in flight.
	Busy time.Duration
	// Served is the sum over all I/Os of the time each took; 0 where it is not known.
	Served time.Duration
	// InFlight is the number of I/Os in flight now.
	InFlight int64
	// IOs is the number of completed I/Os, ours included.
	IOs uint64
}

// Host reads what admission looks at.
type Host interface {
	Usage() (Usage, error)
	// IOPressure returns the share (0 to 1) of the last 10 s in which some task
	// waited for I/O; fs.ErrNotExist where the kernel does not count it.
	IOPressure() (float64, error)
}

// Gate admits rounds to one device. It is not safe for concurrent use.
type Gate struct {
	host        Host
	limits      Limits
	last        *sample
	utilisation float64 // as last seen over a span worth it
	blind       bool
}

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
	return &Gate{host: host, limits: limits, utilisation: -1}
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
	load := record.Load{Utilisation: -1, IOPressure: -1, OthersIOs: -1}
	if g.host == nil {
		return load, nil
	}
	usage, err := g.host.Usage()
	if err != nil {
		return load, fmt.Errorf("read the device's load: %w", err)
	}
	load.InFlight = usage.InFlight
	// Between our last I/O and now the device served others alone.
	if g.last != nil && now.Sub(g.last.at) >= minSpan {
		busy := max(0, usage.Busy-g.last.usage.Busy)
		if usage.Served > 0 {
			// From Linux 5.0 to 6.9 each lone I/O counts as a whole tick of the clock in the
			// busy time, so that 200 short ones a second look like 80 %
			// ("block: support to account io_ticks precisely", 6.10).
			busy = min(busy, max(0, usage.Served-g.last.usage.Served))
		}
		g.utilisation = min(1, busy.Seconds()/now.Sub(g.last.at).Seconds())
	}
	if !g.blind {
		load.Utilisation = g.utilisation
	}
	switch pressure, err := g.host.IOPressure(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return load, fmt.Errorf("read the host's I/O pressure: %w", err)
	default:
		load.IOPressure = pressure
	}
	g.last = &sample{now, usage}
	return load, g.limits.check(load)
}

func (l Limits) check(load record.Load) error {
	switch {
	case load.Utilisation > l.MaxUtilisation:
		return busy("others used the device for %.0f %% of the time, above the limit of %.0f %%",
			100*load.Utilisation, 100*l.MaxUtilisation)
	case load.InFlight > l.MaxInFlight:
		return busy("others have %d I/Os in flight, above the limit of %d", load.InFlight, l.MaxInFlight)
	case load.IOPressure > l.MaxIOPressure:
		return busy("tasks of this host waited for I/O for %.0f %% of the last 10 s, above the limit of %.0f %%",
			100*load.IOPressure, 100*l.MaxIOPressure)
	}
	return nil
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
			load.Utilisation, load.OthersIOs = -1, -1
		}
	}
	g.last = &sample{now, usage}
	return nil
}

// Blind reports whether most of our last I/Os were not counted, so that those of
// others are not either: the device's statistics are switched off (queue/iostats in
// sysfs), or a cache answered in its place.
func (g *Gate) Blind() bool { return g.blind }
