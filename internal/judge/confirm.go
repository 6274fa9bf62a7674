package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// Wanted is a round that would confirm or refute a suspicion.
type Wanted struct {
	Drive string
	// In is the delay from now at which the round is most informative.
	In time.Duration
}

// MostWanted returns how many confirmation rounds an hour the drive of the i-th wanted round may have, if it may have most
// for its own sake. The others contribute at most half, so that a drive that is slow now and then does not use it up.
func MostWanted(i, most int) int {
	if i > 0 {
		return (most + 1) / 2
	}
	return most
}

// wanted returns the rounds that would decide something after a round that was far too slow. These are the next round
// of this drive and, after the first such round, one round of each of as many other drives as can tell whether the
// host is slow. The next rounds of those may be minutes away, and the first drive to be probed would be blamed for
// what the host does. took is how long the slow round took, which may be many seconds.
func (s *source) wanted(took time.Duration) []Wanted {
	slow := s.tracker.Suspicious()
	if slow == 0 {
		return nil
	}
	rounds := []Wanted{{s.drive.ID, max(0, drift.ConfirmAfter-took)}}
	if slow > 1 {
		return rounds
	}
	voters := s.group.voters
	here := max(0, slices.IndexFunc(voters, s.isSame))
	for i := range voters { // start at its own place, so that not always the same drives are asked
		o := voters[(here+i)%len(voters)]
		if len(rounds) <= enoughVoters && !s.isSame(o) {
			rounds = append(rounds, Wanted{Drive: o.drive.ID})
		}
	}
	return rounds
}
