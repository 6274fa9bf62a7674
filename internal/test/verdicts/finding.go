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
	Drive string
	Scope drifttest.Scope
	// Severity is that of the verdict.
	Severity Severity
	Ratio    float64
	// Source and Statistic are what was slowest.
	Source, Statistic string
	// Stood is for how long a verdict about a drive stood, to the end of the scenario at most.
	Stood time.Duration
}

// Severity is how much a finding says.
type Severity string

// The severities. A statistic that has regressed is no verdict about the drive yet.
const (
	Regressed Severity = "regressed"
	Degraded  Severity = "degraded"
	Severe    Severity = "severe"
)
