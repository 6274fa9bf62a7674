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

// shared is what all watches of a daemon use together. Nothing in it changes after the start; what it points to has
// locks of its own.
type shared struct {
	fs        sysfs.FS // the host's
	node      string
	lockDir   string
	log       *slog.Logger
	state     *storage
	meter     *counters.Meter
	engine    *probe.Engine
	latencies *export.Latencies
	traffic   *traffic.Sampler
	judging   *judging
	tell      func([]judge.Event) // logs what was judged, and has it kept
	confirm   func(rounds []judge.Wanted, probe string)
	// slots has room for as many rounds as may run at once on the node.
	slots chan struct{}
}
