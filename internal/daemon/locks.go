package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// lockTimeout is how long a use of the lock directory may take. It is less than stopTimeout.
const lockTimeout = 4 * time.Second

// locks is the lock directory. Its drive may hang: without a runtime directory, it is in the state directory.
type locks struct {
	dir   string
	turn  sync.Mutex // one use at a time
	guard guard.Guard
}

// take takes the lock of a device. Errors: those of store.TakeLock and *guard.HungError.
func (l *locks) take(id string) (*store.Lock, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	lock, err := guard.DoLate(context.Background(), &l.guard, lockTimeout,
		func(context.Context) (*store.Lock, error) { return store.TakeLock(l.dir, id) },
		func(late *store.Lock, err error) {
			if err == nil {
				_ = late.Release() // it is empty, so there is nothing to lose
			}
		})
	if guard.Hangs(err) {
		err = fmt.Errorf("take the lock of %s: the filesystem of %s hangs: %w", id, l.dir, err)
	}
	return lock, err
}

// release releases a lock, or leaves that to the call that hangs.
func (l *locks) release(lock *store.Lock) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	_, err := guard.Do(context.Background(), &l.guard, lockTimeout, func(context.Context) (struct{}, error) { return struct{}{}, lock.Release() })
	if hung, ok := errors.AsType[*guard.HungError](err); ok && hung.Earlier {
		l.guard.Finally(func() { _ = lock.Release() })
	}
	return err
}

// noted returns for which devices a run of ours has the lock, as only runs note something in it; none while the
// directory hangs.
func (l *locks) noted(ids []string) map[string]bool {
	l.turn.Lock()
	defer l.turn.Unlock()
	noted, _ := guard.Do(context.Background(), &l.guard, lockTimeout, func(context.Context) (map[string]bool, error) {
		noted := map[string]bool{}
		for _, id := range ids {
			noted[id] = store.IsNoted(l.dir, id)
		}
		return noted, nil
	})
	return noted
}
