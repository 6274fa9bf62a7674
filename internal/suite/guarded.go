package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
)

// holding is the raw devices that a run may overwrite, kept from everybody else.
type holding struct {
	claims map[string]*safety.Claim // by path
}

// hold claims every raw device that one of the steps writes to.
func hold(ctx context.Context, steps []Step) (holding, error) {
	h := holding{claims: map[string]*safety.Claim{}}
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

// check looks again at everything that speaks against a step's writes.
func (h holding) check(ctx context.Context, step Step) error {
	if step.Writes == "" {
		return nil
	}
	for _, t := range step.Targets {
		if !t.Raw {
			if err := safety.CheckSpace(t.Path, t.OffsetBytes+t.SizeBytes); err != nil {
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

// files are the descriptors by which a step's devices are held.
func (h holding) files(step Step) []*os.File {
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
	return errors.Join(errs...)
}

// changing is the settings of the device that a run changes; its session is nil when
// it changes none.
type changing struct {
	session *settings.Session
	// found are the values from before the run, of all settings that a step changes.
	found []Setting
}

// takeSettings makes sure that all settings that the steps name can be changed, before
// anything is run.
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
	// A controller may refuse a value that it was not asked for before: each is tried
	// once, so that no run ends half-way for that reason.
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

// apply makes the settings those of a step: what it does not name is as it was found.
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
