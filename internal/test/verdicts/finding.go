package verdicts

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
)

// Finding is a verdict that somebody or something is slow.
type Finding struct {
	// At is when it was made, since the start of the scenario.
	At time.Duration
	// Drive is who is meant; empty for the host.
	Drive  string
	Scope  drifttest.Scope
	Severe bool
	Ratio  float64
	// Source and Statistic are what was slowest.
	Source, Statistic string
}
