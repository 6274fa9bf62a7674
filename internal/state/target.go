package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Target is what is kept of one target across restarts.
type Target struct {
	ID     string                 `json:"id"`
	Path   string                 `json:"path"`
	File   bool                   `json:"file,omitempty"`
	Device record.Device          `json:"device"` // as last seen
	Probes map[string]drift.State `json:"probes"`
	// Idle is the same of probes that the configuration leaves out now, until it has them again.
	Idle map[string]drift.State `json:"idle_probes,omitempty"`
	// Defined says what each probe was when it ran last. What was learned of other I/O is void.
	Defined map[string]record.Probe `json:"defined_probes,omitempty"`
	// Traffic is the state of the device's own traffic; nil if nothing is known.
	Traffic *drift.State     `json:"traffic,omitempty"`
	Pool    *probe.PoolState `json:"pool,omitempty"`
	// Budgets holds the budgets of the write probes.
	Budgets map[string]admit.Budget `json:"budgets,omitempty"`
	// Most is the most work that others were seen to do on the device.
	Most admit.Capacity `json:"most_work,omitzero"`
	// MountPoint is where the filesystem of a file was mounted when it was last opened.
	MountPoint string `json:"mount_point,omitempty"`
	// Directory is true if the path was a directory then, in which the file is.
	Directory bool `json:"directory,omitempty"`
	// Foreign is true if the path was a file then that ssdprobe did not make.
	Foreign bool `json:"foreign,omitempty"`
	// Planned holds, for each suite, since when the calendar has it at its current times.
	Planned map[string]Planned `json:"planned,omitempty"`
	// Conditions are those last seen, and Changed holds when each of them last changed.
	Conditions record.Conditions    `json:"conditions"`
	Changed    map[string]time.Time `json:"changed,omitempty"`
}

// Planned records since when the calendar has had a suite at its current times. It is stored so that a restart or
// a change of the calendar does not make a run due that was never planned, and a restart does not cancel one that
// was.
type Planned struct {
	Times string    `json:"times"`
	Since time.Time `json:"since"`
	// Complete is when the last complete run ended, because its report may have been removed.
	Complete time.Time `json:"complete,omitzero"`
}

// Targets returns what is stored about every target. The error joins what could not be read; the others are
// returned all the same.
func (d Dir) Targets() ([]Target, error) {
	targets, err := all[Target](d, kindTargets)
	for i := range targets {
		targets[i].inherit()
	}
	return targets, err
}

// Accepted returns the levels that were accepted at the given time, keyed by probe or "traffic".
func (t Target) Accepted(at time.Time) map[string]drift.Note {
	notes := map[string]drift.Note{}
	sources := maps.Clone(t.Probes)
	if t.Traffic != nil {
		sources[judge.Traffic] = *t.Traffic
	}
	for name, s := range sources {
		if note, ok := s.Accepted(at); ok {
			notes[name] = note
		}
	}
	return notes
}

// Unlike returns how the conditions that were last seen differ from those of a baseline of a probe, which is not used while
// they do. seen is false if no conditions are known.
func (t Target) Unlike(probeName string, of record.Conditions) (changes []record.Change, seen bool) {
	of = probe.Inherit(of)
	epochs := t.Probes[probeName].Epochs
	if n := len(epochs); n > 0 && epochs[n-1].Conditions == of && of.Extended(t.Conditions) {
		of = t.Conditions // what the current baseline does not know is no difference
	}
	return of.Changes(t.Conditions), t.Conditions != record.Conditions{}
}

// inherit adopts the baselines of an earlier engine, if they remain valid for this one.
func (t *Target) inherit() {
	t.Conditions = probe.Inherit(t.Conditions)
	for _, s := range t.Probes {
		inherit(s)
	}
	for _, s := range t.Idle {
		inherit(s)
	}
	if t.Traffic != nil {
		inherit(*t.Traffic)
	}
}

func inherit(s drift.State) {
	for i := range s.Epochs {
		e := &s.Epochs[i]
		e.Conditions = probe.Inherit(e.Conditions)
		if e.Previous != nil {
			e.Previous = new(probe.Inherit(*e.Previous))
		}
	}
}

// Target returns what is stored about the target with this id; false if nothing is.
func (d Dir) Target(id string) (t Target, found bool, err error) {
	found, err = d.Load(kindTargets, id, &t)
	t.inherit()
	return t, found, err
}

// SaveTarget replaces what is stored about a target.
func (d Dir) SaveTarget(t Target) error { return d.Save(kindTargets, t.ID, t) }

// SetTargetAside renames the file of a target whose state is invalid, and returns a *store.DamagedError that says
// so.
func (d Dir) SetTargetAside(id string, cause error) error { return d.SetAside(kindTargets, id, cause) }

// ProbeNames returns the sorted names of the probes about which something is stored.
func (t Target) ProbeNames() []string { return slices.Sorted(maps.Keys(t.Probes)) }

// Tracker is the restored tracker of a probe.
type Tracker struct {
	Probe string
	*drift.Tracker
}

// Trackers restores the trackers of all probes, in the order of their names. The error joins the invalid states;
// the others are returned all the same.
func (t Target) Trackers(settings drift.Settings) ([]Tracker, error) {
	var trackers []Tracker
	var problems []error
	for _, name := range t.ProbeNames() {
		tracker := drift.NewTracker(settings)
		tracker.Every(t.Defined[name].Interval)
		if err := tracker.Restore(t.Probes[name]); err != nil {
			problems = append(problems, fmt.Errorf("state of %s, probe %s: %w", t.ID, name, err))
			continue
		}
		trackers = append(trackers, Tracker{name, tracker})
	}
	return trackers, errors.Join(problems...)
}
