package verdicts

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Finding is a verdict that somebody or something is slow.
type Finding struct {
	// At is when the verdict was made, since the start of the scenario.
	At time.Duration
	// Drive is the drive that is blamed; empty for the host.
	Drive string
	Scope drifttest.Scope
	// Severity is the severity of the verdict.
	Severity Severity
	Ratio    float64
	// Source and Statistic say what was slowest.
	Source, Statistic string
	// Felt is how many times longer the I/O of the drive's users took in the last half hour than it would have without the
	// drive's faults; 0 when not known.
	Felt float64
	// HostNoise is how many times slower the noise of the host made its drives in the last half hour than on its first day; 0 when
	// not known.
	HostNoise float64
	// Stood is how long a verdict about a drive stood, up to the end of the scenario.
	Stood time.Duration
}

// Judged is what was made of a scenario.
type Judged struct {
	Findings []Finding // in the order of time
	Shown    []Shown
}

// Shown is a verdict that was shown for a drive from one time to another, since the start of the scenario.
type Shown struct {
	Drive    string
	Verdict  record.DriveVerdict
	From, To time.Duration
}

// Severity is how serious a finding is.
type Severity string

// The severities. A statistic that has regressed is not yet a verdict about the drive.
const (
	Regressed Severity = "regressed"
	Degraded  Severity = "degraded"
	Severe    Severity = "severe"
)
