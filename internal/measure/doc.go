// Package measure opens a target and measures it, a round at a time: what the
// daemon does for ever and `ssdprobe run` does now.
//
// A Session owns the descriptor, the offsets and the admission of one target. It
// does not decide when a round is due, and it does not keep the target to itself:
// the caller holds the device's lock.
//
//	s, err := measure.Open(ctx, target, options)
//	defer s.Close()
//	m, err := s.Round(ctx, probe)
package measure
