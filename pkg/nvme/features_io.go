package nvme

import "time"

// WriteCache gets whether the controller caches writes in memory that loses them
// with the power, feature 06h (Figure 391). A controller without such a cache, or whose cache is
// safe, is [errors.ErrUnsupported] (VWC).
func (d *Device) WriteCache() (enabled bool, err error) {
	v, err := d.feature(FeatureVolatileWriteCache, 0, nil)
	return v&1 != 0, err
}

// Queues are how many I/O queues the driver was given at initialisation, feature
// 07h (Figure 445); it may use fewer.
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

// InterruptCoalescing is how many completions the controller may gather, and how
// long, before it interrupts, feature 08h (Figure 446).
type InterruptCoalescing struct {
	Time      time.Duration // a multiple of 100 µs up to 25.5 ms; 0 for no delay
	Threshold int           // completion queue entries, 1 to 256
}

// coalescingUnit is the unit of the aggregation time.
const coalescingUnit = 100 * time.Microsecond

// InterruptCoalescing gets how interrupts are gathered; [errors.ErrUnsupported] for
// controllers behind a fabric.
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
