package top

import (
	"cmp"
	"slices"

	"github.com/maruel/natural"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Order is the criterion by which rows are sorted. Whole disks always come first.
type Order string

// The orders.
const (
	// ByTrouble sorts by the worst state, then the longest stall in progress, then how many times slower the drive is,
	// then utilisation, then IOPS. A stall of two seconds or more that only the device explains ranks just below
	// the verdict degraded.
	ByTrouble   Order = "trouble"
	ByIOPS      Order = "iops"
	ByBandwidth Order = "bandwidth"
	ByLatency   Order = "latency"
	ByInFlight  Order = "in-flight"
	ByName      Order = "name"
)

// Orders lists all orders.
func Orders() []Order {
	return []Order{ByTrouble, ByIOPS, ByBandwidth, ByLatency, ByInFlight, ByName}
}

// Sort sorts rows in place: the highest value first, but names in ascending order. Equal rows are sorted by
// name.
func Sort(rows []Row, by Order, reverse bool) {
	slices.SortFunc(rows, func(a, b Row) int {
		order := by.compare(a, b)
		if reverse {
			order = -order
		}
		return cmp.Or(cmp.Compare(b2i(b.Whole), b2i(a.Whole)), order, natural.Compare(a.Device, b.Device))
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (o Order) compare(a, b Row) int {
	switch o {
	case ByTrouble:
		return cmp.Or(
			cmp.Compare(badness(b), badness(a)),
			cmp.Compare(b.stalled(), a.stalled()),
			cmp.Compare(b.Ratio, a.Ratio),
			cmp.Compare(b.Traffic.Utilisation, a.Traffic.Utilisation),
			cmp.Compare(b.IOPS(), a.IOPS()),
		)
	case ByIOPS:
		return cmp.Compare(b.IOPS(), a.IOPS())
	case ByBandwidth:
		return cmp.Compare(b.Bytes(), a.Bytes())
	case ByLatency:
		return cmp.Compare(b.Latency(), a.Latency())
	case ByInFlight:
		return cmp.Compare(b.InFlight, a.InFlight)
	case ByName:
	}
	return natural.Compare(a.Device, b.Device)
}

// badness ranks states, and puts a stall just below degraded. A device of which the daemon says nothing ranks like a healthy one.
func badness(r Row) int {
	worst := 0
	if r.State != "" {
		worst = 2 * r.State.Badness()
	}
	if r.Stall != nil && r.Stall.Telling() {
		worst = max(worst, 2*finding.State(record.Degraded).Badness()-1)
	}
	return worst
}
