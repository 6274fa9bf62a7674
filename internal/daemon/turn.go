package daemon

import (
	"context"
	"sync"
)

// turn has room for as many users as may have the turn at the same time.
type turn chan struct{}

// take waits for the turn. It returns false when ctx ends first.
func (t turn) take(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// try takes the turn if nobody has to be waited for.
func (t turn) try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t turn) end() { <-t }

// turns has the turn of each device that was ever watched: its targets must not measure each other.
type turns struct {
	mu sync.Mutex
	of map[string]turn // by lock id
}

func (t *turns) device(lockID string) turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]turn{}
	}
	if t.of[lockID] == nil {
		t.of[lockID] = make(turn, 1)
	}
	return t.of[lockID]
}

// takeTurn waits until a round may run: on the device, on the node and on the target. It returns false when ctx ends first.
func (t *target) takeTurn(ctx context.Context) bool {
	device := t.shared.turns.device(t.spec.LockID)
	if !device.take(ctx) {
		return false
	}
	for t.shared.slots.take(ctx) {
		if t.access.turn.try() {
			return true
		}
		// Discovery is using the target, which may take seconds. Let the rounds of other devices go first.
		t.shared.slots.end()
		if !t.access.turn.take(ctx) {
			break
		}
		t.access.turn.end()
	}
	device.end()
	return false
}

func (t *target) endTurn() {
	t.access.turn.end()
	t.shared.slots.end()
	t.shared.turns.device(t.spec.LockID).end()
}
