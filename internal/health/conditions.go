package health

import "github.com/ssdprobe/ssdprobe/internal/record"

// Complete adds what a device's controllers report to its conditions. Features that are nil
// were not read and are skipped. If the controllers differ, a condition holds all their values.
//
// Only a setting that stays as it was set is a condition. The power state of a
// controller that changes it by itself is not, because it would differ from one reading
// to the next. Nor is the allocated share of a namespace, which grows with every file.
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
		case f.Coalescing.String() == record.Off:
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
