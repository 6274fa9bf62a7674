// Package settings changes how a device works for the time of a run, and restores
// what it found.
//
// It owns the volatile write cache and interrupt coalescing: where each device has
// them, how their values are written, and the journal in the state directory that
// says what they were. The journal is on the drive before anything is changed, so
// that a process that is killed leaves behind what is needed to restore. A small process
// beside it does so at once (Guard); where both are killed, as with a whole
// container, the next start does. The package refuses what it cannot read back.
//
//	session, err := settings.Take(settings.Options{Store: s, Device: d})
//	defer session.Restore()
//	err = session.Set(settings.WriteCache, "off")
//
// and at every start: restored, err := settings.RestorePending(options).
package settings
