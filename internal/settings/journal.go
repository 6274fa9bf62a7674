package settings

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// kindJournal is the kind of the journals in the state directory.
const kindJournal = "settings"

const journalVersion = 1

// journal holds the original values of a device's settings.
type journal struct {
	Version  int     `json:"version"`
	DeviceID string  `json:"device_id"`
	Entries  []entry `json:"entries"` // in the order in which they were changed
}

type entry struct {
	Setting Name   `json:"setting"`
	Was     string `json:"was"`
}

// note records the original value of a setting, and reports whether there was none yet.
func (j *journal) note(name Name, was string) bool {
	if slices.ContainsFunc(j.Entries, func(e entry) bool { return e.Setting == name }) {
		return false
	}
	j.Entries = append(j.Entries, entry{name, was})
	return true
}

// locked calls do while it holds the lock of one device's settings. Errors:
// store.ErrLocked, and those of do.
func (o Options) locked(id string, do func() ([]string, error)) ([]string, error) {
	lock, err := o.lock(id)
	if err != nil {
		return nil, fmt.Errorf("restore settings of %s: %w", id, err)
	}
	restored, err := do()
	return restored, errors.Join(err, lock.Release())
}

// restore restores the values in the stored journal of a device. The caller holds the lock.
func (o Options) restore(id string) ([]string, error) {
	var j journal
	found, err := o.Store.Load(kindJournal, id, &j)
	switch {
	case err != nil:
		return nil, fmt.Errorf("restore settings: %w", err)
	case !found:
		return nil, nil
	case j.Version > journalVersion:
		return nil, fmt.Errorf("restore settings of %s: %w", id, store.ErrNewer)
	}
	return o.restoreAll(j)
}

// restoreAll restores the values of a journal, the last change first, and stores what is left
// of it. The caller holds the lock.
func (o Options) restoreAll(j journal) ([]string, error) {
	id := j.DeviceID
	d, err := device.Find(o.FS, id)
	if err != nil {
		return nil, fmt.Errorf("restore settings: %w", err)
	}
	var restored []string
	var left []entry
	var problems []error
	for _, e := range slices.Backward(j.Entries) {
		changed, err := o.putBack(d, e)
		if err != nil {
			problems = append(problems, fmt.Errorf("restore %s of %s to %s: %w", e.Setting, d.Name, e.Was, err))
			left = append([]entry{e}, left...)
		} else if changed {
			restored = append(restored, fmt.Sprintf("%s of %s (%s) is %s again", e.Setting, d.Name, id, e.Was))
		}
	}
	if len(left) == 0 {
		return restored, errors.Join(append(problems, o.Store.Remove(kindJournal, id))...)
	}
	j.Entries = left
	return restored, errors.Join(append(problems, o.Store.Save(kindJournal, id, j))...)
}

// putBack restores one setting, and reports whether it had to be changed.
func (o Options) putBack(d record.Device, e entry) (bool, error) {
	p, err := o.find(d, e.Setting)
	if err != nil {
		return false, err
	}
	now, err := p.read()
	if err != nil || now == e.Was {
		return false, err
	}
	if err := p.write(e.Was); err != nil {
		return false, err
	}
	if now, err = p.read(); err == nil && now != e.Was {
		err = fmt.Errorf("it is %s still", now)
	}
	return true, err
}
