package drifttest

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Scenario is the history of a node, in which it is known what happens.
type Scenario struct {
	// Kind and Noise name the scenario in a table. Noises are all noises of the host.
	Kind, Noise string
	Noises      []string
	Drives      []Drive
	// Host is what happens to all drives of the node at once.
	Host []Episode
	// Changes are the changes that make nothing slow.
	Changes []Change
	// Restarts are the times at which the daemon restarts and continues from its stored state.
	Restarts []time.Duration
	Duration time.Duration
	// Interval is the time between rounds of a drive.
	Interval time.Duration
	// Samples yields the samples of all drives in the order of time, with the index in Drives.
	Samples iter.Seq2[int, Sample]
	// Again makes a round of a drive out of turn, at a time not long before its next sample; false if it is refused. It changes
	// no other sample. It is nil in scenarios that have no such rounds.
	Again func(drive int, at time.Duration) (drift.Values, bool)
}

// Drive is a drive of a node.
type Drive struct {
	ID, Model string
	SizeBytes int64
	// Noise is what the drive does by itself all the time, if drives differ in that.
	Noise string
	// From and To bound the time that the drive is in the node.
	From, To time.Duration
	Episodes []Episode
}

// Episode is something that happens to a drive or a host, from Onset to End since the
// start of the scenario.
type Episode struct {
	Kind       string
	Scope      Scope
	Onset, End time.Duration
	// Slower is how many times slower the episode makes what it affects; see SlowerAt.
	Slower float64
}

// Kinds of episodes whose Slower is 1, because it varies.
const (
	creep        = "creep"
	intermittent = "intermittent"
)

const (
	creepADay = 0.01 // how much slower a drive that creeps becomes each day
	burst     = 5.0  // how many times slower an intermittent drive is, when it is
)

// SlowerAt returns how many times slower the episode makes what it affects at a time within it; for what comes and goes,
// when it has come.
func (e Episode) SlowerAt(at time.Duration) float64 {
	switch e.Kind {
	case creep:
		return 1 + creepADay*(at-e.Onset).Hours()/24
	case intermittent:
		return burst
	}
	return e.Slower
}

// Change is something that makes nothing slow. It happens to one drive, or to the whole node.
type Change struct {
	At    time.Duration
	Drive int
	What  string
}

// Before returns what changed on a drive, or on its node, within some time before a moment; empty when nothing did.
func (s Scenario) Before(drive int, at, within time.Duration) string {
	var what []string
	for _, c := range s.Changes {
		if (c.Drive == drive || c.Drive < 0) && c.At <= at && at-c.At <= within && !slices.Contains(what, c.What) {
			what = append(what, c.What)
		}
	}
	return strings.Join(what, ", ")
}

// Scope says who is slow.
type Scope string

// All scopes.
const (
	OfDrive Scope = "drive"
	OfBatch Scope = "batch"
	OfHost  Scope = "host"
)

// Lasting reports whether in the episode a drive is at least twice as slow for an hour or longer.
func (e Episode) Lasting(duration time.Duration) bool {
	return e.Scope != OfHost && e.Slower >= 2 && e.Kind != "tail" && e.Kind != intermittent && min(e.End, duration)-e.Onset >= time.Hour
}

// Sample is what is known of a drive at a moment: a round of its probe, and what others asked of it since the sample
// before.
type Sample struct {
	Time       time.Time
	Conditions record.Conditions
	// Values are the statistics of the round; all 0 when it was refused.
	Values drift.Values
	// Loaded marks a small round that ran although the drive was busy.
	Loaded bool
	// Utilisation is the share of time (0 to 1) that others used the drive; -1 when not known.
	Utilisation float64
	Others      Others
	// Felt is how many times longer the I/O of others takes than on the drive without its faults: a slower drive is
	// also busier with the same work. It is 0 when not known.
	Felt float64
	// HostNoise is how many times slower the noise of the host makes its drives; 0 when not known.
	HostNoise float64
}

// Refused reports whether the sample has no round.
func (s Sample) Refused() bool { return s.Values == drift.Values{} }

// Others is what others do to a drive.
type Others struct {
	// Known is false when nothing was recorded.
	Known bool
	// Reads and Writes are I/Os a second, ReadBytes and WriteBytes bytes a second.
	Reads, Writes, ReadBytes, WriteBytes float64
	// ReadLatency, WriteLatency and FlushLatency are means in seconds; 0 when there was no such I/O.
	ReadLatency, WriteLatency, FlushLatency float64
	InFlight                                float64
}

// Together returns the largest number of drives that the node has at the same time.
func (s Scenario) Together() int {
	most := 0
	for _, d := range s.Drives {
		most = max(most, s.Present(d.From))
	}
	return most
}

// Present returns how many drives the node has at a time.
func (s Scenario) Present(at time.Duration) (drives int) {
	for _, d := range s.Drives {
		if d.From <= at && at < d.To {
			drives++
		}
	}
	return drives
}
