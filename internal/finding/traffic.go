package finding

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// shareTraffic reports whether two targets are on one device and so have the same
// traffic.
func shareTraffic(a, b record.TargetStatus) bool {
	return a.Device.Number != "" && a.Device.Number == b.Device.Number
}

// ofTraffic returns one finding for all stalls of the last hour.
func ofTraffic(t *record.TrafficStatus) []Finding {
	if t == nil {
		return nil
	}
	var telling []record.Stall
	longest := record.Stall{}
	for _, s := range t.Stalls {
		if !s.Telling() {
			continue
		}
		telling = append(telling, s)
		if s.Length > longest.Length {
			longest = s
		}
	}
	if len(telling) == 0 {
		return nil
	}
	last := telling[len(telling)-1]
	text := "the device stalled"
	if last.Ongoing {
		text = "the device stalls"
	}
	f := found(Stalled, text, stallText(last))
	if longest.Length > last.Length {
		f.Evidence = append(f.Evidence, "the longest in the last hour: "+stallText(longest))
	}
	if len(telling) > 1 {
		f.Evidence = append(f.Evidence, units.Plural(uint64(len(telling)), "stall")+" in the last hour")
	}
	f.Since = telling[0].Start
	if record.BeyondDoubt(telling) {
		f.Severity = Critical
	}
	return []Finding{f}
}

// stallText describes a stall: "no I/O completed for 3 s from 10:42:07 UTC on, with 4 in
// flight".
func stallText(s record.Stall) string {
	verb := "completed"
	if s.Ongoing {
		verb = "has completed"
	}
	return fmt.Sprintf("no I/O %s for %d s from %s on, with %d in flight", verb, s.Seconds(), s.Start.UTC().Format(time.TimeOnly+" MST"), s.InFlight)
}
