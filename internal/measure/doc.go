// Package measure opens a target and measures it one round at a time, both for the daemon and for `ssdprobe run`.
//
// A Session owns the descriptor, the offsets and the admission of one target. It decides what each round is worth, and
// nothing changes a measurement afterwards. It does not decide when a round is due.
//
//	s, err := measure.Open(ctx, target, options)
//	defer s.Close()
//	m, err := s.Round(ctx, measure.Round{Probe: probe})
package measure
