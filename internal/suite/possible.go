package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/settings"
)

// Possible returns why a plan cannot be carried out here, whatever its targets contain: fio lacks an engine, or the
// device lacks a setting, which matches settings.ErrNone. It changes nothing, so it can be called before a file is
// filled. If with.Path is empty, engines are not checked.
func (s Suite) Possible(ctx context.Context, v Values, with fiorun.Binary, o settings.Options, targets ...Target) error {
	steps, err := s.sketch(v, targets)
	if err != nil {
		return err
	}
	if with.Path != "" {
		if err := checkEngines(ctx, with, steps); err != nil {
			return err
		}
	}
	for _, name := range settingsOf(steps) {
		if _, err := o.Read(targets[0].Device, name); errors.Is(err, settings.ErrNone) {
			return fmt.Errorf("%w; --set %s=%s measures it as it is", err, parameterOf(name), asFound)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func checkEngines(ctx context.Context, with fiorun.Binary, steps []Step) error {
	for _, engine := range enginesOf(steps) {
		if err := with.CheckEngine(ctx, engine); err != nil {
			return err
		}
	}
	return nil
}

// settingsOf returns the distinct settings that the steps change.
func settingsOf(steps []Step) []settings.Name {
	var names []settings.Name
	seen := map[settings.Name]bool{}
	for _, step := range steps {
		for _, s := range step.Settings {
			if !seen[s.Name] {
				seen[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return names
}
