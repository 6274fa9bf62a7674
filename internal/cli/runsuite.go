package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ownJob stands for the suite when --job names a job file.
const ownJob = "--job"

// checkSuite finds the fio suite, its parameters and the data sheet.
func (k *checked) checkSuite() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	var err error
	switch {
	case k.job != "" && k.suite != ownJob:
		bad("--job: is run instead of a suite; leave %q out", k.suite)
	case k.suite == ownJob:
		k.plan, err = readFrom(nil, k.job, func(r io.Reader) (suite.Suite, error) { return suite.OwnJob(filepath.Base(k.job), r) })
		if err != nil {
			bad("--job: %w", err)
		}
	default:
		if k.plan, err = suite.Find(k.suite); err != nil {
			k.plan = suite.Suite{} // the suite probe; a wrong name is reported elsewhere
		}
	}
	if k.suite != run.ProbeSuite && k.plan.Name != "" {
		if k.repeats > 0 && !k.plan.Repeatable() {
			bad("--repeats: %s has no repeats; run it several times instead", k.plan.Name)
		} else if k.repeats > 0 && k.repeats <= suite.MostRepeats { // otherwise, check says so
			k.set = append(k.set, fmt.Sprintf("repeats=%d", k.repeats))
		}
		if k.format && k.suite == "steady-state" {
			k.set = append(k.set, "purge="+suite.Format)
		}
		if k.values, err = k.plan.Set(k.set); err != nil {
			bad("--set: %w", err)
		}
	}
	for _, flag := range []struct {
		name string
		used bool
	}{{"--spec", k.spec != ""}, {"--destroy", len(k.destroy) > 0}, {"--dry-run", k.dryRun}} {
		if flag.used && k.suite == run.ProbeSuite {
			bad("%s: is for suites of fio, not for %s", flag.name, k.suite)
		}
	}
	switch {
	case k.format && k.suite != "steady-state":
		bad("--format: is for steady-state, not for %s", k.suite)
	case k.format && len(k.destroy) == 0:
		bad("--format: goes with --destroy SERIAL, which names the device; it erases all of it")
	}
	if k.destroyData && len(k.destroy) == 0 {
		bad("--destroy-unknown-data: goes with --destroy SERIAL, which names the device")
	}
	if len(k.targets) > 1 && !k.plan.Many {
		bad("--target: %s takes one", k.suite)
	}
	if k.spec != "" {
		sheet, err := readFrom(nil, k.spec, config.ParseDataSheet)
		if err != nil {
			bad("--spec: %w", err)
		}
		k.sheet = &sheet
	}
	return errors.Join(problems...)
}

// findPatience is how long it may take to find a target.
const findPatience = 20 * time.Second

// find returns the subject that a target names. The filesystem may hang.
func (k checked) find(ctx context.Context, host sysfs.FS, path string) (measure.Subject, error) {
	subject, err := guard.Do(ctx, &guard.Guard{}, findPatience, func(context.Context) (measure.Subject, error) {
		return run.Find(host, path, k.sizeBytes)
	})
	switch {
	case ctx.Err() != nil:
		return subject, fmt.Errorf("find %s: %w", path, context.Cause(ctx))
	case guard.Hangs(err):
		return subject, fmt.Errorf("find %s: the filesystem there does not answer: %w", path, err)
	case err != nil:
		return subject, usage(err)
	}
	return subject, nil
}

// subjects returns the subjects that the targets name. Naming the same subject twice is an error.
func (k checked) subjects(ctx context.Context, host sysfs.FS) ([]measure.Subject, error) {
	var all []measure.Subject
	seen := map[string]string{}
	for _, path := range k.targets {
		subject, err := k.find(ctx, host, path)
		if err != nil {
			return nil, err
		}
		if before, twice := seen[subject.ID]; twice {
			return nil, usage(fmt.Errorf("--target: %s and %s are the same", before, path))
		}
		seen[subject.ID] = path
		all = append(all, subject)
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--size", k.sizeGiven}, {"--keep-file", k.keepFile}} {
		if flag.given && !slices.ContainsFunc(all, func(s measure.Subject) bool { return s.File }) {
			return nil, usage(fmt.Errorf("%s: is for the file that a directory gets, and %s is a block device, which is measured as a whole", flag.name, k.targets[0]))
		}
	}
	if len(k.destroy) > 0 && !slices.ContainsFunc(all, func(s measure.Subject) bool { return !s.File }) {
		return nil, usage(fmt.Errorf("--destroy: is for block devices only, and %s is not one; files need no --destroy", k.targets[0]))
	}
	return all, nil
}

// restorePending restores the settings that a killed run left changed. If that fails on a device that is not measured,
// such as one that was pulled since, it is only noted.
func restorePending(ctx context.Context, host sysfs.FS, state *store.Store, subjects []measure.Subject, note func(string)) error {
	told, left, err := settings.RestorePending(ctx, settings.Options{FS: host, Store: state, OpenNVMe: nvme.Open})
	for _, text := range told {
		note("restored after a run: " + text)
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		why := left[id]
		if ctx.Err() != nil || slices.ContainsFunc(subjects, func(s measure.Subject) bool { return s.Device.ID == id }) {
			err = errors.Join(err, why)
		} else {
			note("not restored after a run: " + why.Error())
		}
	}
	return err
}

// refusal gives an error that is about safety or a busy device its exit code, and says what can be done.
func refusal(err error) error {
	var impossible *run.PlanError
	var inUse *run.InUseError
	switch {
	case errors.As(err, &impossible):
		return usage(err)
	case errors.Is(err, admit.ErrBusy):
		return &exitError{exitRefused, fmt.Errorf("refused: %w; try again later, or measure a busy device with --even-if-busy", err)}
	case errors.As(err, &inUse) && inUse.By.PID > 0:
		return &exitError{exitRefused, fmt.Errorf("refused: %w; wait for it to end, or end it with ssdprobe run --stop --target %s", err, inUse.By.Targets[0])}
	case errors.Is(err, run.ErrInUse):
		return &exitError{exitRefused, fmt.Errorf("refused: %w; wait for it to end: it is probably a round or a scheduled run of the daemon", err)}
	}
	var refused *safety.RefusedError
	switch {
	case !errors.Is(err, safety.ErrRefused):
		return err
	case errors.As(err, &refused) && len(refused.Found) > 0 && !slices.ContainsFunc(refused.Found, func(f safety.Finding) bool { return f.Kind != safety.KindSpace }):
		return err // a full filesystem is neither unsafe nor busy
	case errors.As(err, &refused):
		return &exitError{exitRefused, fmt.Errorf("refused to write to %s:\n- %s%s", refused.Path, strings.Join(refused.List(), "\n- "), advice(refused))}
	}
	return &exitError{exitRefused, err}
}

// reason returns why a run would be refused, for the output of a dry run.
func reason(err error) string {
	if refused, ok := errors.AsType[*safety.RefusedError](err); ok {
		return refused.Path + ": " + refused.Reasons() + strings.ReplaceAll(advice(refused), "\n", "; ")
	}
	return err.Error()
}

// advice returns what would allow the refused run; empty when nothing does.
func advice(refused *safety.RefusedError) string {
	found := map[safety.Kind]bool{}
	for _, f := range refused.Found {
		if f.Kind != safety.KindSerial && f.Kind != safety.KindUnknownData {
			return ""
		}
		found[f.Kind] = true
	}
	text := ""
	if found[safety.KindSerial] {
		text += "\n--destroy SERIAL allows it, and all that is on the device is lost. With --set writes=no, a suite that has this parameter only reads"
	}
	if found[safety.KindUnknownData] {
		text += "\nif nobody needs that data, --destroy-unknown-data allows overwriting it"
	}
	return text
}
