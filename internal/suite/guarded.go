package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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
}

// takeSettings makes sure, before anything is run, that all settings that the steps
// name can be changed.
func (o Options) takeSettings(steps []Step) (changing, error) {
	var c changing
	names := settingsOf(steps)
	if len(names) == 0 {
		return c, nil
	}
	if o.Settings.Store == nil {
		return c, errors.New("it changes settings of the device, and there is no state directory to note what they were")
	}
	session, err := settings.Take(o.Settings, o.Target.Device)
	if err != nil {
		return c, err
	}
	c.session = session
	for _, name := range names {
		value, err := session.Read(name)
		if err != nil {
			return changing{}, errors.Join(err, c.restore())
		}
		c.found = append(c.found, Setting{name, value})
	}
	// A controller may refuse a value that it was never given before. Each value is
	// tried once, so that no run fails half-way for that reason.
	tried := map[Setting]bool{}
	for _, step := range steps {
		for _, s := range step.Settings {
			if tried[s] {
				continue
			}
			tried[s] = true
			if err := session.Set(s.Name, s.Value); err != nil {
				return changing{}, errors.Join(err, c.restore())
			}
		}
	}
	return c, nil
}

// apply sets the settings of a step, and restores those that it does not name.
func (c changing) apply(step Step) error {
	for _, found := range c.found {
		value := found.Value
		if i := slices.IndexFunc(step.Settings, func(s Setting) bool { return s.Name == found.Name }); i >= 0 {
			value = step.Settings[i].Value
		}
		if err := c.session.Set(found.Name, value); err != nil {
			return err
		}
	}
	return nil
}

func (c changing) restore() error {
	if c.session == nil {
		return nil
	}
	return c.session.Restore()
}
