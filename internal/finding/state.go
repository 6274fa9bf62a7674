package finding

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// State says in a word or two how a drive is: its verdict, or what a verdict alone does not say. It is one of States.
type State string

// The states that no verdict has.
const (
	StateHung      State = "hung"       // it does not answer
	StateNotProbed State = "not probed" // it cannot be
	StateHeldBack  State = "held back"  // the host does not pass a round on to it
	StatePartly    State = "partly judged"
)

// States lists all states, from best to worst. The verdicts are in the order of record.DriveVerdicts.
func States() []State {
	return []State{
		State(record.Healthy), StatePartly, State(record.Unjudged), State(record.Watch), StateHeldBack, StateNotProbed, State(record.Degraded),
		State(record.Severe), StateHung,
	}
}

// Badness is the place of a state in States: a worse one has a greater number. A state of a newer version is not known to be good.
func (s State) Badness() int {
	if i := slices.Index(States(), s); i >= 0 {
		return i
	}
	return State(record.Unjudged).Badness()
}

// Grade is how bad a state is, in four steps. A greater one is worse.
type Grade int

// The grades.
const (
	Good    Grade = iota // known to be well
	Unknown              // not known, or not of all
	Doubtful
	Bad
)

// Grade returns how bad a state is.
func (s State) Grade() Grade {
	switch b := s.Badness(); {
	case b >= StateNotProbed.Badness():
		return Bad
	case b >= State(record.Watch).Badness():
		return Doubtful
	case s == State(record.Healthy):
		return Good
	}
	return Unknown
}

// stateOf returns the state of a target: the worst that applies. It is healthy only if everything that is watched about the target
// is known to be well.
func stateOf(t record.TargetStatus, now time.Time) State {
	state := State(t.Judged().Verdict)
	if state == State(record.Healthy) && !judgedInFull(t) {
		state = StatePartly
	}
	all := []State{state}
	if t.Problem != "" {
		all = append(all, StateNotProbed)
	}
	for _, p := range t.Probes {
		if _, hung := p.HungSince(now); hung {
			all = append(all, StateOfHung(t.HeldBack(&p) != nil))
		}
	}
	return slices.MaxFunc(all, worse)
}

// worse compares states: the better one comes first.
func worse(a, b State) int { return cmp.Compare(a.Badness(), b.Badness()) }

// StateOfHung returns the state of a target or probe whose round does not end. Either the device does not answer, or the host holds
// the I/O back.
func StateOfHung(heldBack bool) State {
	if heldBack {
		return StateHeldBack
	}
	return StateHung
}

// judgedInFull reports whether all statistics of all probes are judged.
func judgedInFull(t record.TargetStatus) bool {
	return !slices.ContainsFunc(t.Probes, func(p record.ProbeStatus) bool {
		return len(p.Drift) == 0 || slices.ContainsFunc(p.Drift, func(d record.Drift) bool { return !d.State.Judged() })
	})
}

// whyPartly returns why statistics of a target are not judged; empty when all are. It leaves out their names and details, so that
// it is the same for most drives.
func whyPartly(t record.TargetStatus) string {
	var reasons []string
	for _, p := range t.Probes {
		for _, d := range p.Drift {
			if d.State.Judged() || d.Unjudged == nil {
				continue
			}
			if why := d.Unjudged.Reason.Words(); !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
	}
	slices.Sort(reasons)
	return strings.Join(reasons, ", and ")
}
