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
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// askedAtOnce limits the threads that open devices or look up files at a time, because a node may have a thousand of
// them. Targets that hang delay the others only once there are this many.
const askedAtOnce = 32

// scan is the result of looking for devices on the host, before any target is touched.
type scan struct {
	devices []wanted
	ignored []record.Ignored
	mounted *device.Filesystems
	// complete is false when the host could not be examined. Nothing may then be concluded from missing devices.
	complete bool
	// unidentified is true if a device hangs that has not answered before. It may be one of those that are missing.
	unidentified bool
}

// candidate is a target that the configuration selects.
type candidate struct {
	wanted // as far as it is known without touching the target
	// touch determines the rest through the guard. Errors: *guard.HungError, deniedError, and read errors, with which
	// the result is usable all the same.
	touch func(context.Context, *guard.Guard) (wanted, error)
}

// answer is the result of touching a candidate.
type answer struct {
	wanted
	// denied says why the target may not be opened; empty when it may.
	denied string
	// hung is set when the target does not answer, busy when it was not asked.
	hung *guard.HungError
	busy bool
	// err describes what could not be read about the target.
	err error
}

// deniedError says why this process may not open a device.
type deniedError string

func (e deniedError) Error() string { return string(e) }

// scan finds the devices that should be watched. The error joins the read errors of single devices; the other devices
// are found all the same.
func (d *Daemon) scan(c config.Config) (scan, error) {
	seen := scan{mounted: device.NewFilesystems(d.shared.fs)}
	if !c.Devices.Enabled {
		seen.complete = true
		return seen, nil
	}
	choice, err := d.host.Choose(c.Devices.Include, c.Devices.Exclude)
	if choice == nil {
		return seen, err
	}
	seen.complete, seen.unidentified = true, errors.Is(err, device.ErrNoAnswer)
	for _, pick := range choice {
		switch {
		case pick.Reason == "":
			w, silent := d.wantDevice(c, pick.Device)
			if silent != nil { // unknown conditions would count as changed ones
				seen.unidentified, err = true, errors.Join(err, silent)
				continue
			}
			seen.devices = append(seen.devices, w)
		case !pick.Device.Empty():
			seen.ignored = append(seen.ignored, record.Ignored{Device: pick.Device, Reason: pick.Reason})
		}
	}
	return seen, err
}

// recall returns the devices of which something is stored. What cannot be read is reported when its target is watched.
func (d *Daemon) recall() []device.Recalled {
	targets, _ := through(context.Background(), d.shared.state, saveTimeout, state.Dir.Targets)
	var all []device.Recalled
	for _, t := range targets {
		if !t.File {
			all = append(all, device.Recalled{Device: t.Device, Conditions: t.Conditions})
		}
	}
	return all
}

// candidates returns the devices of a scan, followed by the files of the configuration.
func (d *Daemon) candidates(c config.Config, seen scan) []candidate {
	var all []candidate
	watched := d.current()
	for _, w := range seen.devices {
		all = append(all, candidate{wanted: w, touch: func(ctx context.Context, g *guard.Guard) (wanted, error) {
			if _, open := watched[w.spec.ID]; open { // it is open, so access was permitted
				return w, nil
			}
			reason, err := measure.Denied(ctx, g, w.spec.Path, w.spec.Number)
			if reason != "" {
				err = deniedError(reason)
			}
			return w, err
		}})
	}
	if seen.mounted == nil { // the scan hangs, but the list of mounts does not
		seen.mounted = device.NewFilesystems(d.shared.fs)
	}
	for _, file := range c.Files {
		all = append(all, fileCandidate(c, seen.mounted, file))
	}
	return all
}

// fileCandidate returns the candidate for a file, or for a directory in which a probe file is made.
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

// makeOwn creates the directory of the fallback file, which the configuration may name as well, unless something
// exists there. It creates no other directory; those are up to the administrator.
func makeOwn(c config.Config, path string) error {
	if path != FallbackPath(c) {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.MkdirAll(path, 0o700)
}

// ask touches the candidates concurrently and returns their answers in the same order.
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
	_ = group.Wait() // the functions never fail; errors are in the answers
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

// resolve returns the targets to watch, by id. It logs which targets have stopped answering, or answer again.
func (d *Daemon) resolve(answers []answer) map[string]wanted {
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
		if w, ok := watches[a.spec.ID]; ok && !w.spec.Unresolved {
			lost := a.err != nil && a.spec.Number == "" && w.spec.Number != "" // such as an I/O error of the filesystem
			if a.spec.Unresolved || lost {
				a.wanted = w.remembered(a.wanted)
			}
		}
		all[a.spec.ID] = a.wanted
	}
	return all
}

// remembered returns what the configuration wants for a file that cannot be examined now, completed with what the
// watch knows about it.
func (w *watch) remembered(now wanted) wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	now.spec.LockID, now.spec.Number, now.spec.Spins, now.spec.Unresolved = w.spec.LockID, w.spec.Number, w.spec.Spins, false
	now.seen = w.seen
	return now
}

// keepWatched adds the targets that are watched now. How they are probed is up to the configuration, which may have
// changed, also while the host cannot be examined: rounds in quiet hours would be a surprise.
func (d *Daemon) keepWatched(c config.Config, targets map[string]wanted) {
	for id, w := range d.current() {
		if _, ok := targets[id]; ok {
			continue
		}
		w.mu.Lock()
		kept := want(c, measure.Subject{Target: w.spec.Target, LockID: w.spec.LockID}, record.CollectorStatus{})
		kept.spec.Unresolved, kept.seen = w.spec.Unresolved, w.seen
		w.mu.Unlock()
		targets[id] = kept
	}
}

// devices returns the device of each target, with duplicates.
func (d *Daemon) devices(targets map[string]wanted) []record.Device {
	devices := make([]record.Device, 0, len(targets))
	for _, w := range targets {
		devices = append(devices, w.seen.device)
	}
	return devices
}

// access returns the access to a target, and creates it if need be. Only discovery may call it.
func (d *Daemon) access(id string) *access {
	a, ok := d.ways[id]
	if !ok {
		a = newAccess()
		d.ways[id] = a
	}
	return a
}

// forgetAccess drops the accesses whose targets have not been watched for accessKept and in which no thread hangs.
func (d *Daemon) forgetAccess() {
	watches, now := d.current(), time.Now()
	maps.DeleteFunc(d.ways, func(id string, a *access) bool {
		if _, watched := watches[id]; watched || !a.guard.Since().IsZero() {
			a.watched = now
		}
		return now.Sub(a.watched) >= accessKept
	})
}

func devicePath(c config.Config, dev record.Device) string {
	return filepath.Join(c.HostRoot, "dev", filepath.FromSlash(dev.Name))
}

// wantDevice returns what the configuration wants for a device. It fails if the device hangs before it has said its
// conditions. Other problems are in the status.
func (d *Daemon) wantDevice(c config.Config, dev record.Device) (wanted, error) {
	start := time.Now()
	subject, err := measure.OfDevice(d.host, devicePath(c, dev), dev)
	if errors.Is(err, device.ErrNoAnswer) {
		return wanted{}, err
	}
	w := want(c, subject, collected("conditions", dev.Name, start, err))
	w.seen.returns = d.host.Returns(dev.ID)
	return w, nil
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
