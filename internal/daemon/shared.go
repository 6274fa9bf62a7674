package daemon

import (
	"log/slog"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// shared is what all watches of a daemon share. None of its fields changes after the start; what they point to has
// its own locks.
type shared struct {
	fs        sysfs.FS // the filesystem of the host
	node      string
	locks     *locks
	log       *slog.Logger
	state     *storage
	meter     *counters.Meter
	engine    *probe.Engine
	latencies *export.Latencies
	traffic   *traffic.Sampler
	judging   *judging
	tell      func([]judge.Event) // logs the events, and triggers their saving
	confirm   func(rounds []judge.Wanted, probe string)
	// slots has room for as many rounds as may run concurrently on the node.
	slots turn
	turns turns
}
