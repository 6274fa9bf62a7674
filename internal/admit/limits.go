package admit

import (
	"errors"
	"fmt"
	"math"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Limits holds the thresholds above which a device is left alone. For a nil limit, this
// package applies its own rules, which look at the work that the device does rather than at
// how busy it is. A limit that is set comes from the user and holds for every device.
type Limits struct {
	// MaxUtilisation is the share (0 to 1) of time for which others may keep the device busy.
	MaxUtilisation *float64
	// MaxInFlight is how many I/Os of others may be in flight, both now and on average.
	MaxInFlight *int64
	// MaxIOPressure is the share (0 to 1) of time in which some task of the host may wait for
	// I/O.
	MaxIOPressure *float64
}

// The limits that this package applies by itself, where the user says auto.
const (
	// AutoUtilisation applies to hard disks, which do one thing at a time, and before full
	// runs. For a drive with parallel queues, busy time says nothing: one I/O at a time keeps
	// it busy.
	AutoUtilisation = 0.8
	// AutoInFlight limits the mean. It applies only while the device does at least AutoWork (a
	// share of the most work it was seen to do). Below that, I/Os are in flight because the
	// device is slow, which is what the rounds must measure.
	AutoInFlight = 32
	AutoWork     = 0.75
	// AutoIOPressure applies only if the device contributes to the pressure: if more I/Os than
	// AutoStressed are in flight on it on average. A single reader alone causes a
	// pressure of nearly 100 %.
	AutoIOPressure = 0.6
	AutoStressed   = 4
)

// ForcedIOs and ForcedWarmupIOs limit the I/Os of a round that is forced on a busy device.
const (
	ForcedIOs       = 32
	ForcedWarmupIOs = 8
)

// Unlimited returns limits that admit everything.
func Unlimited() Limits {
	return Limits{MaxUtilisation: new(1.0), MaxInFlight: new(int64(math.MaxInt64)), MaxIOPressure: new(1.0)}
}

// ForRun returns the limits before a full run, which uses a device to its full capacity. The
// package's own limits then hold unconditionally.
func (l Limits) ForRun() Limits {
	if l.MaxUtilisation == nil {
		l.MaxUtilisation = new(AutoUtilisation)
	}
	if l.MaxInFlight == nil {
		l.MaxInFlight = new(int64(AutoInFlight))
	}
	if l.MaxIOPressure == nil {
		l.MaxIOPressure = new(AutoIOPressure)
	}
	return l
}

// ErrBusy says that a device must not be touched now. The error's text gives the reason.
var ErrBusy = errors.New("busy")

// busyError is an ErrBusy with its reason.
type busyError struct {
	reason string
	// ours is true if the exceeded limit is one of this package and not the user's.
	ours bool
}

func (e *busyError) Error() string { return ErrBusy.Error() + ": " + e.reason }

func (*busyError) Is(target error) bool { return target == ErrBusy }

func busy(format string, args ...any) error { return &busyError{reason: fmt.Sprintf(format, args...)} }

func busyByUs(format string, args ...any) error {
	return &busyError{reason: fmt.Sprintf(format, args...), ours: true}
}

// Why returns the reason of an ErrBusy without the prefix "busy", and the text of any other
// error.
func Why(err error) string {
	var busy *busyError
	if errors.As(err, &busy) {
		return busy.reason
	}
	return err.Error()
}

// given checks the limits that the user has set.
func (l Limits) given(load record.Load) error {
	switch {
	case l.MaxUtilisation != nil && load.Utilisation > *l.MaxUtilisation:
		return busy(textUtilisation, 100*load.Utilisation, 100**l.MaxUtilisation)
	case l.MaxInFlight != nil && load.InFlight > *l.MaxInFlight:
		return busy("others have %d I/Os in flight, above the limit of %d", load.InFlight, *l.MaxInFlight)
	case l.MaxInFlight != nil && load.MeanInFlight > float64(*l.MaxInFlight):
		return busy("others kept %.0f I/Os in flight on average, above the limit of %d", load.MeanInFlight, *l.MaxInFlight)
	case l.MaxIOPressure != nil && load.IOPressure > *l.MaxIOPressure:
		return busy(textPressure, 100*load.IOPressure, 100**l.MaxIOPressure)
	}
	return nil
}

const (
	textUtilisation = "others used the device for %.0f %% of the time, above the limit of %.0f %%"
	textPressure    = "tasks of this host waited for I/O for %.0f %% of the last 10 s, above the limit of %.0f %%"
)

// left checks the limits that the user has left to this package. work is the share (0 to 1) of
// the most work that the device was seen to do.
func (l Limits) left(load record.Load, work float64, spins bool) error {
	inFlight := load.MeanInFlight
	if inFlight < 0 {
		inFlight = float64(load.InFlight)
	}
	switch {
	case l.MaxUtilisation == nil && spins && load.Utilisation > AutoUtilisation:
		return busyByUs(textUtilisation, 100*load.Utilisation, 100*AutoUtilisation)
	case work < AutoWork:
		return nil
	case l.MaxInFlight == nil && inFlight > AutoInFlight:
		return busyByUs("others keep %.0f I/Os in flight, above the limit of %d, and the device does %.0f %% of the most work that it was seen to do",
			inFlight, AutoInFlight, 100*work)
	case l.MaxIOPressure == nil && load.IOPressure > AutoIOPressure && inFlight > AutoStressed:
		return busyByUs(textPressure+", and others keep %.0f I/Os in flight on this device",
			100*load.IOPressure, 100*AutoIOPressure, inFlight)
	}
	return nil
}
