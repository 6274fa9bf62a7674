package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
)

// Possible returns why a plan cannot be carried out here, whatever its targets contain: fio lacks an engine or does not
// accept the user's own job (fiorun.ErrJob), or the device lacks a setting, which matches settings.ErrNone. It changes
// nothing, so it can be called before a file is filled. If with.Path is empty, engines and jobs are not checked.
func (s Suite) Possible(ctx context.Context, v Values, with fiorun.Binary, o settings.Options, targets ...Target) error {
	steps, err := s.sketch(v, targets)
	if err != nil {
		return err
	}
	if with.Path != "" {
		if err := checkEngines(ctx, with, steps); err != nil {
			return err
		}
		if len(steps) > 0 && steps[0].own { // the others repeat it
			if err := with.CheckJob(ctx, steps[0].jobFile); err != nil {
				return err
			}
		}
	}
	for _, name := range settingsOf(steps) {
		if _, err := o.Read(targets[0].Device, name); errors.Is(err, settings.ErrNone) {
			return fmt.Errorf("%w; --set %s=%s measures it as it is", err, parameterOf(name), asFound)
		} else if err != nil {
			return err
		}
	}
	return needsFlushes(steps, o, targets[0])
}

// needsFlushes refuses to have the kernel send no flushes to a device that others use: its cache stays as it is.
func needsFlushes(steps []Step, o settings.Options, t Target) error {
	off, written := false, false
	for _, step := range steps {
		off = off || slices.Contains(step.Settings, Setting{settings.WriteCache, "off"})
		written = written || step.Writes != ""
	}
	if !off || t.Raw && written || !o.LosesFlushes(t.Device) { // a raw device that is written to is held exclusively
		return nil
	}
	used, err := safety.HeldByOthers("/dev/" + t.Device.Name)
	if err != nil {
		return fmt.Errorf("find out whether %s is in use: %w", t.Device.Name, err)
	}
	if used {
		return fmt.Errorf("%w to turn the write cache of %s off: the kernel would send no flushes to it, and a loss of power could lose what others have written: --set %s=%s measures it as it is",
			safety.ErrRefused, t.Device.Name, parameterOf(settings.WriteCache), asFound)
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
