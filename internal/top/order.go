package top

import (
	"cmp"
	"slices"

	"github.com/maruel/natural"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Order is the criterion by which rows are sorted. Whole disks always come first.
type Order string

// The orders.
const (
	// ByTrouble sorts by the worst verdict, then the longest stall in progress, then the ratio to the baseline,
	// then utilisation, then IOPS. A stall of two seconds or more that only the device explains ranks above the
	// verdict watch.
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

// badness ranks verdicts, and puts a stall between watch and degraded. An unjudged drive ranks like a healthy
// one.
func badness(r Row) int {
	worst := 0
	if v := r.verdict(); v != record.Unjudged {
		worst = max(0, 2*v.Badness())
	}
	if r.Stall != nil && r.Stall.Telling() {
		worst = max(worst, 2*record.Degraded.Badness()-1)
	}
	return worst
}
