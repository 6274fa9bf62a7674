package device

import (
	"maps"
	"time"
)

// life is what a Scanner remembers of one identity.
type life struct {
	// inode is that of the device's directory: the kernel makes another one each time that the device appears. It is 0 while
	// several devices have the identity.
	inode   uint64
	returns uint64
	seen    time.Time
}

// lifeKept is how long a device is remembered that has left. One that comes back later was away on purpose.
const lifeKept = 24 * time.Hour

// follow counts the devices that came back since the scan before, however short they were away.
func (s *Scanner) follow(all []found, now time.Time) {
	claimed := claims(all)
	for _, f := range all {
		if f.unknown {
			continue
		}
		l := s.lives[f.ID]
		if l == nil {
			l = &life{}
			s.lives[f.ID] = l
		}
		inode := f.inode
		if len(claimed[f.ID]) > 1 {
			inode = 0
		}
		if l.inode != 0 && inode != 0 && l.inode != inode {
			l.returns++
		}
		l.inode, l.seen = inode, now
	}
	maps.DeleteFunc(s.lives, func(_ string, l *life) bool { return now.Sub(l.seen) > lifeKept })
}

// Returns returns how many times the device with an identity came back since the first scan. A device that was there at
// the first scan, or was added, has not come back.
func (s *Scanner) Returns(id string) uint64 {
	if l := s.lives[id]; l != nil {
		return l.returns
	}
	return 0
}
