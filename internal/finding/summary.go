package finding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Summary says how a node is, such as "1 critical, 2 warnings", and how bad that is. all are its findings; those of severity info do
// not count. The grade is Good only if everything is known to be well.
func Summary(s record.Snapshot, all []Finding) (string, Grade) {
	counts := map[Severity]uint64{}
	for _, g := range Groups(all) {
		counts[g.Severity]++
	}
	var parts []string
	grade := Doubtful
	if n := counts[Critical]; n > 0 {
		parts, grade = append(parts, units.Count(n)+" critical"), Bad
	}
	if n := counts[Warning]; n > 0 {
		parts = append(parts, units.Plural(n, "warning"))
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", "), grade
	}
	if len(s.Targets) == 0 {
		return "nothing is watched", Doubtful
	}
	targets, unknown := units.Plural(len(s.Targets), "target"), 0
	states := make([]State, len(s.Targets))
	for i, t := range s.Targets {
		states[i] = stateOf(t, s.Time)
		if states[i].Grade() == Unknown || !judgedInFull(t) {
			unknown++
		}
	}
	if counted := CountStates(states, Doubtful); counted != "" { // a suspicion of the traffic alone is no finding
		return targets + counted, slices.MaxFunc(states, worse).Grade()
	}
	if unknown > 0 {
		return fmt.Sprintf("no problem found, %s of %s not fully judged", units.Count(unknown), targets), Unknown
	}
	return "all well", Good
}

// CountStates counts the drives in each state of a grade or worse, the worst first: ", 1 severe, 2 degraded". It is empty when none is.
func CountStates(states []State, least Grade) (text string) {
	for _, state := range slices.Backward(States()) {
		n := 0
		for _, s := range states {
			if s == state {
				n++
			}
		}
		if n > 0 && state.Grade() >= least {
			text += ", " + units.Count(n) + " " + string(state)
		}
	}
	return text
}
