// Package probe is the low-impact engine. It executes one round of a probe on a target
// that the caller has opened, and reports whether the round measured the device or
// something else.
//
// A round runs on locked operating-system threads, one per unit of queue depth, with
// blocking system calls. Nothing is allocated while I/Os are timed. Around the I/Os the
// engine asks the kernel how long the threads waited for a CPU. It checks every block
// that a counted I/O reads for having ever been written. The engine never opens,
// creates or closes anything, it cannot write without a Sink, and it does not decide
// when to run.
//
//	e := probe.NewEngine(meter, maxCPUWait)
//	result, err := e.Round(ctx, probe.Round{Probe: p, Source: t, Offsets: offsets})
//
// The package also decides where to read: Permutation visits every block of a file once
// before it visits any block twice, and Pool keeps the blocks of a raw device that are
// known to have been written.
package probe
