package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// Wanted is a round that would confirm or refute a suspicion.
type Wanted struct {
	Drive string
	// In is how long from now it says most.
	In time.Duration
}

// wanted returns the rounds that would decide something after one that was far too slow: the next of this drive and,
// after the first such round, one of as many others as can tell whether the host is slow. Their own next rounds may be
// minutes away, and the first drive to be probed would be blamed for what the host does. took is how long the round took:
// that of a slow drive may take many seconds.
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
	for i := range voters { // from its own place on, so that not the same ones are always asked
		o := voters[(here+i)%len(voters)]
		if len(rounds) <= minVoters && !s.isSame(o) {
			rounds = append(rounds, Wanted{Drive: o.drive.ID})
		}
	}
	return rounds
}
