// Package settings changes settings of a device for the duration of a run, and restores
// the values that it found.
//
// It owns the volatile write cache and interrupt coalescing: where each device has them,
// how their values are written, and the journal of the original values in the state
// directory. The journal is on the drive before anything is changed, so that a killed
// process leaves behind what is needed to restore. A small companion process then
// restores at once (Guard). If both are killed, as with a whole container, the next
// start restores. The package does not change a setting that it cannot read back.
//
//	session, err := settings.Take(options, device)
//	defer session.Restore()
//	err = session.Set(ctx, settings.WriteCache, "off")
//
// and at every start: told, left, err := settings.RestorePending(ctx, options).
package settings
