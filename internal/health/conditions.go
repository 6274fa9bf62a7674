package health

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Complete adds to a device's conditions what its controllers say, nil for those
// that were not read. Where they differ, all values are given.
//
// Only what stays as it was set is a condition. The power state of a controller that
// changes it by itself is not: it would be another one at every look. Nor is the
// share of a namespace that is allocated, which grows with every file.
func Complete(c record.Conditions, controllers []record.Health) record.Conditions {
	value := func(of func(record.Features) string) string {
		var values []string
		for _, h := range controllers {
			if v := of(h.Features); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		return strings.Join(values, " and ")
	}
	c.DriveCache = value(func(f record.Features) string {
		switch {
		case f.WriteCache == nil:
			return ""
		case *f.WriteCache:
			return "on"
		default:
			return "off"
		}
	})
	c.Coalescing = value(func(f record.Features) string {
		if f.Coalescing == nil {
			return ""
		}
		return f.Coalescing.String()
	})
	c.PowerState = value(func(f record.Features) string {
		switch {
		case f.AutonomousPower != nil && *f.AutonomousPower:
			return "autonomous"
		case f.PowerState == nil:
			return ""
		default:
			return strconv.Itoa(*f.PowerState)
		}
	})
	return c
}
