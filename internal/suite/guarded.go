package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// holding is the set of raw devices that a run may overwrite and holds exclusively, and of the files that it writes to.
type holding struct {
	claims map[string]*safety.Claim // keyed by path
	opened map[string]*os.File      // keyed by path
}

// hold claims every raw device that one of the steps writes to.
func hold(ctx context.Context, steps []Step) (holding, error) {
	h := holding{claims: map[string]*safety.Claim{}, opened: map[string]*os.File{}}
	for _, step := range steps {
		for _, t := range step.Targets {
			if step.Writes == "" || !t.Raw || h.claims[t.Path] != nil {
				continue
			}
			claim, err := t.Permission.Claim(ctx)
			if err != nil {
				return holding{}, errors.Join(err, h.close())
			}
			h.claims[t.Path] = claim
		}
	}
	return h, nil
}

// check checks again everything that speaks against a step's writes.
func (h holding) check(ctx context.Context, step Step) error {
	if step.Writes == "" {
		return nil
	}
	for _, t := range step.Targets {
		if !t.Raw {
			if err := safety.CheckSpace(t.Path, t.OffsetBytes+t.SizeBytes); err != nil {
				return err
			}
			f, err := target.OpenOurs(t.Path) // another file may have taken its place
			if errors.Is(err, target.ErrForeign) {
				return fmt.Errorf("write to %s: %w: it is not the file that ssdprobe made there", t.Path, safety.ErrRefused)
			} else if err != nil {
				return err
			}
			if before := h.opened[t.Path]; before != nil {
				err = before.Close()
			}
			if h.opened[t.Path] = f; err != nil {
				return err
			}
			continue
		}
		claim := h.claims[t.Path]
		if claim == nil {
			return fmt.Errorf("write to %s: %w: nobody holds it", t.Path, safety.ErrRefused)
		}
		if err := claim.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// format formats the device of a step.
func (h holding) format(ctx context.Context, step Step) error {
	path := step.Targets[0].Path
	claim := h.claims[path]
	if claim == nil {
		return fmt.Errorf("format %s: %w: nobody holds it", path, safety.ErrRefused)
	}
	return claim.Format(ctx)
}

// files returns the checked files that a step writes to.
func (h holding) files(step Step) []*os.File {
	var files []*os.File
	for _, t := range step.Targets {
		if f := h.opened[t.Path]; f != nil && step.Writes != "" {
			files = append(files, f)
		}
	}
	return files
}

// devices returns the descriptors that hold a step's devices.
func (h holding) devices(step Step) []*os.File {
	var files []*os.File
	for _, t := range step.Targets {
		if claim := h.claims[t.Path]; claim != nil {
			files = append(files, claim.File())
		}
	}
	return files
}

func (h holding) close() error {
	var errs []error
	for _, claim := range h.claims {
		errs = append(errs, claim.Close())
	}
	for _, f := range h.opened {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// changing tracks the settings of the device that a run changes; its session is nil if
// the run changes none.
type changing struct {
	session *settings.Session
	// found holds the values from before the run, for all settings that a step changes.
	found []Setting
	// guard lets one use of session at a time through, each for patience.
	guard    *guard.Guard
	patience time.Duration
}

// takeSettings makes sure, before anything is run, that all settings that the steps
// name can be changed.
func (o Options) takeSettings(ctx context.Context, steps []Step, patience time.Duration) (changing, error) {
	names := settingsOf(steps)
	if len(names) == 0 {
		return changing{}, nil
	}
	if o.Settings.Store == nil {
		return changing{}, errors.New("it changes settings of the device, and there is no state directory to note what they were")
	}
	c := changing{guard: &guard.Guard{}, patience: patience}
	taken, err := guard.DoLate(context.WithoutCancel(ctx), c.guard, patience,
		func(ctx context.Context) (changing, error) { return o.trySettings(ctx, steps, names) },
		func(late changing, err error) {
			if err == nil { // nobody else knows of the session
				_ = late.session.Restore() // if that fails, the restorer tries again and tells
			}
		})
	c.session, c.found = taken.session, taken.found
	return c, explained(err)
}

// trySettings takes the settings of the device, and tries each value once: a controller may refuse
// one that it was never given before, and no run is to fail half-way for that reason.
func (o Options) trySettings(ctx context.Context, steps []Step, names []settings.Name) (changing, error) {
	session, err := settings.Take(o.Settings, o.Target.Device)
	if err != nil {
		return changing{}, err
	}
	c := changing{session: session}
	for _, name := range names {
		value, err := session.Read(name)
		if err != nil {
			return changing{}, errors.Join(err, session.Restore())
		}
		c.found = append(c.found, Setting{name, value})
	}
	tried := map[Setting]bool{}
	for _, step := range steps {
		for _, s := range step.Settings {
			if tried[s] {
				continue
			}
			tried[s] = true
			if err := session.Set(ctx, s.Name, s.Value); err != nil {
				return changing{}, errors.Join(err, session.Restore())
			}
		}
	}
	return c, nil
}

// use calls do through the guard, whatever becomes of ctx.
func (c changing) use(ctx context.Context, do func(context.Context) error) error {
	_, err := guard.Do(context.WithoutCancel(ctx), c.guard, c.patience, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return explained(err)
}

// explained says what hangs.
func explained(err error) error {
	if guard.Hangs(err) {
		return fmt.Errorf("the state directory or the device does not answer; its settings are restored when it does: %w", err)
	}
	return err
}

// apply sets the settings of a step, and restores those that it does not name.
func (c changing) apply(ctx context.Context, step Step) error {
	if c.session == nil {
		return nil
	}
	return c.use(ctx, func(ctx context.Context) error {
		for _, found := range c.found {
			value := found.Value
			if i := slices.IndexFunc(step.Settings, func(s Setting) bool { return s.Name == found.Name }); i >= 0 {
				value = step.Settings[i].Value
			}
			if err := c.session.Set(ctx, found.Name, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// restore restores the settings. If a change still hangs, they are restored when it returns.
func (c changing) restore(ctx context.Context) error {
	if c.session == nil {
		return nil
	}
	err := c.use(ctx, func(context.Context) error { return c.session.Restore() })
	if hung, ok := errors.AsType[*guard.HungError](err); ok && hung.Earlier {
		c.guard.Finally(func() {
			go func() { _ = c.session.Restore() }() // if that fails, the restorer tries again and tells
		})
	}
	return err
}
