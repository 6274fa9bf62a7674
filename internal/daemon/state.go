package daemon

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// The kinds of values in the state directory.
const (
	kindTargets  = "targets"
	kindRequests = "requests"
)

// TargetState is what is kept of one target over a restart.
type TargetState struct {
	ID     string                 `json:"id"`
	Path   string                 `json:"path"`
	File   bool                   `json:"file,omitempty"`
	Device record.Device          `json:"device"` // as last seen
	Probes map[string]drift.State `json:"probes"`
	Pool   *probe.PoolState       `json:"pool,omitempty"`
	// Budgets are those of the write probes.
	Budgets map[string]admit.Budget `json:"budgets,omitempty"`
	// MountPoint is where the filesystem of a file was mounted when it was last opened.
	MountPoint string `json:"mount_point,omitempty"`
	// Planned is since when the calendar has each suite as it does now.
	Planned map[string]planned `json:"planned,omitempty"`
	// Conditions are those last seen, and Changed when each was seen to change.
	Conditions record.Conditions    `json:"conditions"`
	Changed    map[string]time.Time `json:"changed,omitempty"`
}

// Targets returns the stored state of every target. What could not be read is
// joined in the error; the others are returned all the same.
func Targets(s *store.Store) ([]TargetState, error) {
	names, err := s.Names(kindTargets)
	problems := []error{err}
	var targets []TargetState
	for _, name := range names {
		var t TargetState
		found, err := LoadTarget(s, name, &t)
		problems = append(problems, err)
		if found {
			targets = append(targets, t)
		}
	}
	return targets, errors.Join(problems...)
}

// LoadTarget reads what is stored of the target with this id; false when nothing is.
func LoadTarget(s *store.Store, id string, t *TargetState) (bool, error) {
	return s.Load(kindTargets, id, t)
}

// lockName is the lock that a running daemon holds on its state directory.
const lockName = "daemon"

// Submit carries out a request, or leaves it to the daemon that runs on the same
// state directory. It returns whether it was left.
func Submit(s *store.Store, r Request) (left bool, err error) {
	lock, err := store.TakeLock(s.Dir(), lockName)
	if errors.Is(err, store.ErrLocked) {
		return true, s.Save(kindRequests, fmt.Sprintf("%d", time.Now().UnixNano()), r)
	} else if err != nil {
		return false, err
	}
	return false, errors.Join(r.Apply(s), lock.Release())
}

// ProbeNames returns the names of the probes that something is stored of, in order.
func (t TargetState) ProbeNames() []string { return slices.Sorted(maps.Keys(t.Probes)) }
