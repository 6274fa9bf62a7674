package nvme

import "time"

// PowerState describes one power state of a controller (Figure 314). Values that
// the controller does not report are nil.
type PowerState struct {
	// MaximumWatts is the most power drawn in this state.
	MaximumWatts *float64
	// NonOperational reports that the controller does no I/O in this state: it leaves the state first.
	NonOperational bool
	// EntryLatency and ExitLatency are upper bounds.
	EntryLatency *time.Duration
	ExitLatency  *time.Duration
	// The relative ranks compare the states of one controller with each other; lower is better.
	RelativeReadThroughput  uint8
	RelativeReadLatency     uint8
	RelativeWriteThroughput uint8
	RelativeWriteLatency    uint8
	// IdleWatts is an average over 30 seconds, ActiveWatts one over 10 seconds.
	IdleWatts   *float64
	ActiveWatts *float64
}

const powerStateBytes = 32

func decodePowerState(p page) PowerState {
	perWatt := 100.0
	if p[3]&1 != 0 { // MXPS
		perWatt = 10_000
	}
	return PowerState{
		MaximumWatts:            reported(float64(p.u16(0)) / perWatt),
		NonOperational:          p[3]&2 != 0,
		EntryLatency:            reported(time.Duration(p.u32(4)) * time.Microsecond),
		ExitLatency:             reported(time.Duration(p.u32(8)) * time.Microsecond),
		RelativeReadThroughput:  p[12] & 0x1F,
		RelativeReadLatency:     p[13] & 0x1F,
		RelativeWriteThroughput: p[14] & 0x1F,
		RelativeWriteLatency:    p[15] & 0x1F,
		IdleWatts:               watts(p.u16(16), p[18]>>6),
		ActiveWatts:             watts(p.u16(20), p[22]>>6),
	}
}

// watts applies the scale of idle and active power; scale 0 means not reported.
func watts(raw uint16, scale uint8) *float64 {
	switch scale {
	case 1:
		return new(float64(raw) / 10_000)
	case 2:
		return new(float64(raw) / 100)
	}
	return nil
}
