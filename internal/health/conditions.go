package health

import "github.com/ssdprobe/ssdprobe/internal/record"

// Complete adds to a device's conditions what its controllers say, nil for those
// that were not read. Where they differ, all values are given.
//
// Only what stays as it was set is a condition. The power state of a controller that
// changes it by itself is not: it would be another one at every look. Nor is the
// share of a namespace that is allocated, which grows with every file.
func Complete(c record.Conditions, controllers []record.Health) record.Conditions {
	var caches []string
	var gathering []record.Coalescing
	var states []record.PowerState
	for _, h := range controllers {
		f := h.Features
		switch {
		case f.WriteCache == nil:
		case *f.WriteCache:
			caches = append(caches, record.On)
		default:
			caches = append(caches, record.Off)
		}
		switch {
		case f.Coalescing == nil:
		case f.Coalescing.Threshold <= 1: // off, whatever the time
			gathering = append(gathering, record.Coalescing{Threshold: 1})
		default:
			gathering = append(gathering, *f.Coalescing)
		}
		switch {
		case f.AutonomousPower != nil && *f.AutonomousPower:
			states = append(states, record.PowerState{Autonomous: true})
		case f.PowerState != nil:
			states = append(states, record.PowerState{State: record.NumberOf(*f.PowerState)})
		}
	}
	c.DriveCache, c.Coalescing, c.PowerState = record.EachOf(caches...), record.EachOf(gathering...), record.EachOf(states...)
	return c
}
