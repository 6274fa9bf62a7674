package daemon

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// askedAtOnce bounds the threads that open devices or look up files at a time, as a node
// may have a thousand of them. So many that hang hold up nobody.
const askedAtOnce = 32

// scan is what a look at the host yields, before any target is touched.
type scan struct {
	devices []wanted
	ignored []record.Ignored
	mounted *device.Filesystems
	// complete is false when the host could not be looked at, so that nothing is
	// to be concluded from what is missing.
	complete bool
}

// candidate is a target that the configuration chooses.
type candidate struct {
	wanted // as far as is known without touching it
	// touch finds out the rest through the guard. Errors: *guard.HungError, deniedError,
	// and what could not be read: the result is of use all the same.
	touch func(context.Context, *guard.Guard) (wanted, error)
}

// answer is what a candidate says when it is touched.
type answer struct {
	wanted
	// denied says why it may not be opened; empty when it may.
	denied string
	// hung is set when it does not answer, and busy when it was not asked.
	hung *guard.HungError
	busy bool
	// err is what could not be read of it.
	err error
}

// deniedError says why this process may not open a device.
type deniedError string

func (e deniedError) Error() string { return string(e) }

// scan finds the devices that should be under watch. The error joins what could not be
// read of single devices; the others are found all the same.
func (d *Daemon) scan(c config.Config) (scan, error) {
	seen := scan{mounted: device.NewFilesystems(d.shared.fs)}
	if !c.Devices.Enabled {
		seen.complete = true
		return seen, nil
	}
	choice, err := device.Choose(d.shared.fs, c.Devices.Include, c.Devices.Exclude)
	if choice == nil {
		return seen, err
	}
	seen.complete = true
	for _, pick := range choice {
		switch {
		case pick.Reason == "":
			seen.devices = append(seen.devices, d.wantDevice(c, pick.Device))
		case !pick.Device.Empty():
			seen.ignored = append(seen.ignored, record.Ignored{Device: pick.Device, Reason: pick.Reason})
		}
	}
	return seen, err
}

// candidates are the devices of a scan, first, and the files of the configuration.
func (d *Daemon) candidates(c config.Config, seen scan) []candidate {
	var all []candidate
	watched := d.current()
	for _, w := range seen.devices {
		all = append(all, candidate{wanted: w, touch: func(ctx context.Context, g *guard.Guard) (wanted, error) {
			if _, open := watched[w.spec.ID]; open { // it was opened, and may be
				return w, nil
			}
			reason, err := measure.Denied(ctx, g, w.spec.Path, w.spec.Number)
			if reason != "" {
				err = deniedError(reason)
			}
			return w, err
		}})
	}
	if seen.mounted == nil { // the scan hangs; the mounts do not
		seen.mounted = device.NewFilesystems(d.shared.fs)
	}
	for _, file := range c.Files {
		all = append(all, fileCandidate(c, seen.mounted, file))
	}
	return all
}

// fileCandidate is a file, or a directory for one.
func fileCandidate(c config.Config, mounted *device.Filesystems, file config.File) candidate {
	unresolved := want(c, measure.UnknownFile(file.Path, file.SizeBytes, c.FillBytesPerSecond), record.CollectorStatus{})
	unresolved.spec.Unresolved = true
	return candidate{wanted: unresolved, touch: func(ctx context.Context, g *guard.Guard) (wanted, error) {
		start := time.Now()
		subject, err := guard.Do(ctx, g, resolveTimeout, func(context.Context) (measure.Subject, error) {
			if err := makeOwn(c, file.Path); err != nil {
				return measure.UnknownFile(file.Path, file.SizeBytes, c.FillBytesPerSecond), err
			}
			return measure.OfFile(mounted, file.Path, file.SizeBytes, c.FillBytesPerSecond)
		})
		return want(c, subject, collected("conditions", subject.Device.Name, start, err)), err
	}}
}

// makeOwn makes the directory of the fallback file, which the configuration may name as
// well, unless something is there. All else is made by people.
func makeOwn(c config.Config, path string) error {
	if path != FallbackPath(c) {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.MkdirAll(path, 0o700)
}

// ask touches the candidates, all at once, and returns what they say in their order.
func (d *Daemon) ask(ctx context.Context, all []candidate) []answer {
	answers := make([]answer, len(all))
	var group errgroup.Group
	group.SetLimit(askedAtOnce)
	for i, c := range all {
		a := d.access(c.spec.ID)
		group.Go(func() error {
			answers[i] = c.ask(ctx, a)
			return nil
		})
	}
	_ = group.Wait() // none fails: what they say is in the answers
	return answers
}

func (c candidate) ask(ctx context.Context, a *access) answer {
	now, err := a.ask(ctx, c.touch)
	var hung *guard.HungError
	var denied deniedError
	switch {
	case errors.Is(err, errBusy):
		return answer{wanted: c.wanted, busy: true}
	case errors.As(err, &hung):
		return answer{wanted: c.wanted, hung: hung}
	case errors.As(err, &denied):
		return answer{wanted: now, denied: denied.Error()}
	default:
		return answer{wanted: now, err: err}
	}
}

// resolve returns what is to be watched, by id, and says what no longer answers, or does
// again.
func (d *Daemon) resolve(c config.Config, answers []answer) map[string]wanted {
	watches := d.current()
	all := map[string]wanted{}
	for _, a := range answers {
		if a.denied != "" {
			continue
		}
		way := d.access(a.spec.ID)
		log := d.shared.log.With("id", a.spec.ID, "path", a.spec.Path)
		switch {
		case a.busy:
		case a.hung != nil:
			if way.hangs(a.hung) {
				log.Warn("the target does not answer; the others are watched all the same", "why", way.problem())
			}
		case way.answers():
			log.Info("the target answers again")
		}
		if w, ok := watches[a.spec.ID]; ok && a.spec.Unresolved && !w.spec.Unresolved {
			a.wanted = w.remembered(a.wanted)
		}
		all[a.spec.ID] = a.wanted
	}
	return all
}

// remembered is what the configuration wants of a file that cannot be asked now, with what
// the watch knows of it.
func (w *watch) remembered(now wanted) wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	now.spec.LockID, now.spec.Number, now.spec.Spins, now.spec.Unresolved = w.spec.LockID, w.spec.Number, w.spec.Spins, false
	now.seen = w.seen
	return now
}

// keepWatched adds to the targets what is under watch now.
func (d *Daemon) keepWatched(targets map[string]wanted) {
	for id, w := range d.current() {
		if _, ok := targets[id]; !ok {
			w.mu.Lock()
			targets[id] = wanted{spec: w.spec, seen: w.seen}
			w.mu.Unlock()
		}
	}
}

// devices are those of the targets, once for each target.
func (d *Daemon) devices(targets map[string]wanted) []record.Device {
	devices := make([]record.Device, 0, len(targets))
	for _, w := range targets {
		devices = append(devices, w.seen.device)
	}
	return devices
}

// access returns the way to a target. Only discovery may ask for it.
func (d *Daemon) access(id string) *access {
	a, ok := d.ways[id]
	if !ok {
		a = newAccess()
		d.ways[id] = a
	}
	return a
}

// forgetAccess drops the ways that lead to nothing that is watched, and in which no thread
// hangs.
func (d *Daemon) forgetAccess() {
	watches := d.current()
	maps.DeleteFunc(d.ways, func(id string, a *access) bool {
		_, watched := watches[id]
		return !watched && a.guard.Since().IsZero()
	})
}

func devicePath(c config.Config, dev record.Device) string {
	return filepath.Join(c.HostRoot, "dev", filepath.FromSlash(dev.Name))
}

func (d *Daemon) wantDevice(c config.Config, dev record.Device) wanted {
	start := time.Now()
	subject, err := measure.OfDevice(d.shared.fs, devicePath(c, dev), dev)
	return want(c, subject, collected("conditions", dev.Name, start, err))
}

func want(c config.Config, s measure.Subject, status record.CollectorStatus) wanted {
	return wanted{
		spec: spec{
			Target: s.Target, LockID: s.LockID,
			Probes: c.Probes, Admission: c.Admission, Drift: c.DriftSettings(s.File), Quiet: c.QuietHours,
		},
		seen: sighting{device: s.Device, conditions: s.Conditions, warnings: s.Warnings, collector: status},
	}
}
