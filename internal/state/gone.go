package state

import (
	"errors"
	"maps"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// dropAtOnce bounds how many targets a call drops, so that it does not take long.
const dropAtOnce = 16

// DropGone removes what is stored of targets that are gone, except for the most that were saved last. A node to which
// volumes are attached all the time would otherwise fill its disk over the years. Targets with a pinned baseline stay,
// because a person wants those. It returns the ids of the targets that it removed; a later call removes more.
func (d Dir) DropGone(here []string, most int) (dropped []string, err error) {
	if count, err := d.Count(kindTargets); err != nil || count <= len(here)+most {
		return nil, err
	}
	gone, err := d.NamesByAge(kindTargets)
	problems := []error{err}
	gone = slices.DeleteFunc(gone, func(id string) bool { return slices.Contains(here, id) })
	for _, id := range gone[:max(0, len(gone)-most)] {
		if len(dropped) == dropAtOnce {
			break
		}
		t, found, err := d.Target(id)
		if err != nil || !found || t.pinned() {
			problems = append(problems, err)
			continue
		}
		err = errors.Join(d.removeRuns(id), d.Remove(kindHistories, id), d.Remove(kindTargets, id))
		if err == nil {
			dropped = append(dropped, id)
		}
		problems = append(problems, err)
	}
	return dropped, errors.Join(problems...)
}

// pinned reports whether a baseline of the target is pinned.
func (t Target) pinned() bool {
	all := slices.AppendSeq(slices.Collect(maps.Values(t.Probes)), maps.Values(t.Idle))
	return slices.ContainsFunc(all, func(s drift.State) bool { return s.Pinned(nil) })
}
