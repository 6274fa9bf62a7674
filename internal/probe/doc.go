// Package probe is the low-impact engine: it executes one round of a probe on a
// target that somebody else opened, and tells whether the round measured the
// device or something else.
//
// A round runs on locked operating-system threads, one per unit of queue depth,
// with blocking system calls; nothing is allocated while I/Os are timed. Around
// the I/Os the kernel is asked how long the threads waited for a CPU, and every
// block that was read is checked for having ever been written. The engine never opens,
// creates or closes anything, it cannot write where there is no Sink, and it does
// not decide when to run.
//
//	e := probe.NewEngine(sysfs.New("/"))
//	m := e.Round(ctx, probe.Round{Probe: p, Source: t, Offsets: offsets})
//
// It also holds what decides where to read: Permutation visits every block of a
// file once before any block twice, and Pool keeps the blocks of a raw device
// that are known to have been written.
package probe
