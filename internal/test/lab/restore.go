package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// RestoreAfter restores the machine to its state after the boot when the test ends, which must be a
// subtest of the one that started the machine: drives as in Options, no limits, no warnings, and no
// process that the subtest has started. Data written to drives and files stays. Subtests that use
// it must not run in parallel.
func (m *Machine) RestoreAfter(t testing.TB) {
	t.Helper()
	m.mu.Lock()
	before := len(m.started)
	m.mu.Unlock()
	t.Cleanup(func() {
		ctx, cancel := m.bootContext(context.Background())
		defer cancel()
		if err := errors.Join(m.killStarted(ctx, before), m.restore(ctx)); err != nil {
			t.Errorf("laboratory: restore: %v", err)
		}
	})
}

func (m *Machine) killStarted(ctx context.Context, from int) error {
	m.mu.Lock()
	started := slices.Clone(m.started[from:])
	m.mu.Unlock()
	var errs []error
	for _, p := range started {
		if p.guest != m.current() {
			continue // ended with a reset
		}
		err := p.killAfter(ctx)
		if err == nil {
			_, err = p.Wait(ctx)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (m *Machine) restore(ctx context.Context) error {
	var errs []error
	for i, d := range m.drives {
		asked := m.options.Drives[i]
		var err error
		switch {
		case asked.Unplugged && d.plugged:
			err = m.Unplug(ctx, d.ID)
		case !asked.Unplugged && !d.plugged:
			_, err = m.Plug(ctx, d.ID)
		}
		errs = append(errs, err)
		if d.iops != 0 || d.hung {
			errs = append(errs, m.Throttle(ctx, d.ID, 0))
		}
		if d.criticalWarning != 0 {
			errs = append(errs, m.SetCriticalWarning(ctx, d.ID, 0))
		}
		if !slices.Equal(d.Faults, asked.Faults) {
			errs = append(errs, m.SetFaults(ctx, d.ID, asked.Faults...))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("drives: %w", err)
	}
	return nil
}
