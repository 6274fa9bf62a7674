package nvme

import "time"

// WriteCache gets whether the volatile write cache is enabled, feature 06h (Figure 391). Data in
// that cache is lost when the power fails. For a controller without a cache, or with a
// non-volatile one, the error matches [errors.ErrUnsupported] (VWC).
func (d *Device) WriteCache() (enabled bool, err error) {
	v, err := d.feature(FeatureVolatileWriteCache, 0, nil)
	return v&1 != 0, err
}

// Queues is the number of I/O queues that the driver was granted at initialisation, feature 07h
// (Figure 445). The driver may use fewer.
type Queues struct {
	Submission uint32 // 1 to 65535
	Completion uint32 // 1 to 65535
}

// Queues gets the number of I/O queues.
func (d *Device) Queues() (Queues, error) {
	v, err := d.feature(FeatureNumberOfQueues, 0, nil)
	if err != nil {
		return Queues{}, err
	}
	return Queues{Submission: v&0xFFFF + 1, Completion: v>>16 + 1}, nil
}

// InterruptCoalescing says how many completions the controller may gather, and for how long,
// before it raises an interrupt, feature 08h (Figure 446). It is off if Time is 0 or Threshold is 1.
type InterruptCoalescing struct {
	Time      time.Duration // a multiple of 100 µs up to 25.5 ms
	Threshold int           // completion queue entries, 1 to 256
}

// coalescingUnit is the unit of the aggregation time.
const coalescingUnit = 100 * time.Microsecond

// InterruptCoalescing gets the interrupt coalescing settings. For a controller behind a fabric
// the error matches [errors.ErrUnsupported].
func (d *Device) InterruptCoalescing() (InterruptCoalescing, error) {
	v, err := d.feature(FeatureInterruptCoalescing, 0, nil)
	if err != nil {
		return InterruptCoalescing{}, err
	}
	return InterruptCoalescing{
		Time:      time.Duration(v>>8&0xFF) * coalescingUnit,
		Threshold: int(v&0xFF) + 1,
	}, nil
}
