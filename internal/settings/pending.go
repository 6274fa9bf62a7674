package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// Patience is how long it may take to change or restore the settings of a device, with a controller
// that is slow and the start of the process that restores them. Beyond that, the state directory or
// the device counts as hung.
const Patience = 2 * time.Minute

// RestorePending restores the settings of all devices that a killed process left
// changed because its companion was killed too. It does not touch settings changed by
// processes that still run. It returns one sentence for each restored setting,
// including those that Guard has restored since the last call, and why those of a device
// could not be restored, by its identity: the next call tries again. The daemon and every
// run call it when they start. The error is about the state directory.
//
// A device that hangs delays no other, and is given up after Patience, or when ctx ends. Its
// settings are restored when it answers, which the next call tells.
func RestorePending(ctx context.Context, o Options) (told []string, left map[string]error, err error) {
	ids, err := guard.Do(ctx, &guard.Guard{}, Patience, func(context.Context) ([]string, error) { return o.pending() })
	left = map[string]error{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			texts, err := guard.Do(ctx, &guard.Guard{}, Patience, func(ctx context.Context) ([]string, error) { return o.restorePending(ctx, id) })
			mu.Lock()
			defer mu.Unlock()
			told = append(told, texts...)
			if err != nil {
				left[id] = unanswered(ctx, err, fmt.Sprintf("restore settings of %s: the device or the state directory", id))
			}
		})
	}
	all.Wait()
	return told, left, unanswered(ctx, err, "restore settings: the state directory")
}

// pending returns the devices of which something is to be restored or told. Damaged files are set
// aside; the error says so.
func (o Options) pending() ([]string, error) {
	aside := errors.Join(o.Store.SetDamagedAside(kindRestored), o.Store.SetDamagedAside(kindJournal))
	noted, errNotes := o.Store.Names(kindRestored)
	left, errLeft := o.Store.Names(kindJournal)
	ids := slices.Concat(noted, left)
	slices.Sort(ids)
	return slices.Compact(ids), errors.Join(aside, errNotes, errLeft)
}

// restorePending is RestorePending for one device.
func (o Options) restorePending(ctx context.Context, id string) ([]string, error) {
	told, err := o.locked(id, func() ([]string, error) {
		restored, err := o.restore(id)
		if ctx.Err() != nil { // nobody waits any more
			return nil, errors.Join(err, o.noteRestored(id, restored))
		}
		before, errNotes := o.takeNotes(id)
		return slices.Concat(before, restored), errors.Join(errNotes, err)
	})
	if errors.Is(err, store.ErrLocked) { // the process that changed them restores them
		return nil, nil
	}
	return told, err
}

// unanswered says what does not answer if err is that of a call that was given up.
func unanswered(ctx context.Context, err error, what string) error {
	switch {
	case !guard.Hangs(err):
		return err
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s does not answer: %w", what, err)
}
