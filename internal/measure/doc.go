// Package measure opens a target and measures it, a round at a time: what the
// daemon does continuously and `ssdprobe run` does now.
//
// A Session owns the descriptor, the offsets and the admission of one target. It
// decides what each round is worth, and nothing changes a measurement after it. It does not decide when a round is due.
//
//	s, err := measure.Open(ctx, target, options)
//	defer s.Close()
//	m, err := s.Round(ctx, measure.Round{Probe: probe})
package measure
