package nvme

import "time"

// PowerState describes one power state of a controller (Figure 313).
type PowerState struct {
	// MaximumWatts is the most power drawn in this state; nil when not reported.
	MaximumWatts *float64
	// NonOperational states do no I/O: the controller leaves them first.
	NonOperational bool
	// EntryLatency and ExitLatency are upper bounds; 0 when not reported.
	EntryLatency time.Duration
	ExitLatency  time.Duration
	// Relative ranks compare the states of one controller with each other; lower is better.
	RelativeReadThroughput  uint8
	RelativeReadLatency     uint8
	RelativeWriteThroughput uint8
	RelativeWriteLatency    uint8
	// IdleWatts and ActiveWatts are averages over 30 and 10 seconds; nil when not reported.
	IdleWatts   *float64
	ActiveWatts *float64
}

const powerStateBytes = 32

func decodePowerState(p page) PowerState {
	scale := 0.01
	if p[3]&1 != 0 { // MXPS
		scale = 0.0001
	}
	var maximum *float64
	if raw := p.u16(0); raw != 0 {
		maximum = new(float64(raw) * scale)
	}
	return PowerState{
		MaximumWatts:            maximum,
		NonOperational:          p[3]&2 != 0,
		EntryLatency:            time.Duration(p.u32(4)) * time.Microsecond,
		ExitLatency:             time.Duration(p.u32(8)) * time.Microsecond,
		RelativeReadThroughput:  p[12] & 0x1F,
		RelativeReadLatency:     p[13] & 0x1F,
		RelativeWriteThroughput: p[14] & 0x1F,
		RelativeWriteLatency:    p[15] & 0x1F,
		IdleWatts:               watts(p.u16(16), p[18]>>6),
		ActiveWatts:             watts(p.u16(20), p[22]>>6),
	}
}

// watts applies the scale of idle and active power: 0 means not reported.
func watts(raw uint16, scale uint8) *float64 {
	switch scale {
	case 1:
		return new(float64(raw) * 0.0001)
	case 2:
		return new(float64(raw) * 0.01)
	}
	return nil
}
