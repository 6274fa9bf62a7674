package record

// DriveVerdict is what is said of a drive, or of a host, as a whole.
type DriveVerdict string

// The verdicts, from the best to the worst; unknown is not one of them.
const (
	Healthy  DriveVerdict = "healthy"
	Watch    DriveVerdict = "watch"    // a suspicion
	Degraded DriveVerdict = "degraded" // at least 1.2 times slower, or slow I/Os have become common
	Severe   DriveVerdict = "severe"   // at least twice as slow, or it stalls
	Unjudged DriveVerdict = "unknown"  // nothing was compared
)

// DriveVerdicts lists all of them.
func DriveVerdicts() []DriveVerdict {
	return []DriveVerdict{Unjudged, Healthy, Watch, Degraded, Severe}
}

// Scope is who is slow.
type Scope string

// The scopes of a verdict.
const (
	ScopeDrive Scope = "drive"
	ScopeBatch Scope = "batch" // several drives that got slower together
	ScopeHost  Scope = "host"  // nearly all drives of the host
)
