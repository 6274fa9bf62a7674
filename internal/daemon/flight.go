package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// recordingsOf is what a problem with the recordings is reported under.
const recordingsOf = "recordings"

// flight is the flight recorder and what is kept of it. Its lock is taken after that of the recorder, never before.
type flight struct {
	*recorder.Recorder
	// These two are for the sampler's goroutine. stalling is when the stalls began that were told and go on, by device.
	host     *recorder.HostReader
	stalling map[string]time.Time

	mu       sync.Mutex
	settings recorder.Settings
	kept     []state.Recording // as they were written
	written  uint64
	failed   uint64
	lost     time.Time                // when a recording was; zero when that has been told for long enough
	devices  map[string]record.Device // all that were seen lately, by id
	seen     map[string]time.Time
}

func newFlight(fs sysfs.FS, s recorder.Settings) *flight {
	f := &flight{host: recorder.NewHostReader(fs), stalling: map[string]time.Time{}, devices: map[string]record.Device{}, seen: map[string]time.Time{}}
	f.Recorder = recorder.New(recorder.Options{Clock: recorder.SystemClock(), Describe: f.describe, Taken: f.taken})
	f.configure(s)
	return f
}

func (f *flight) configure(s recorder.Settings) {
	f.Switch(s.Enabled)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings = s
}

// sizeProblem says why recordings of so many bytes do not fit into the memory that the process may use; empty when they do. The rest
// of the daemon needs two thirds of a limit that suits it.
func sizeProblem(most, memory int64) string {
	if most <= memory/3 {
		return ""
	}
	return fmt.Sprintf("recorder.max_size is %d MiB, and this process may use %d MiB of memory, in which recordings are held; "+
		"lower recorder.max_size, or raise the limit: GOMEMLIMIT, MemoryMax= of the unit or the memory limit of the pod", most>>20, memory>>20)
}

// tellSize warns of recordings that may take too much memory.
func (d *Daemon) tellSize(s recorder.Settings) {
	if problem := sizeProblem(s.MaxBytes, debug.SetMemoryLimit(-1)); s.Enabled && problem != "" {
		d.shared.log.Warn("recorder", "warning", problem)
	}
}

// names says whether slow I/Os are recorded with who submitted them.
func (f *flight) names() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings.Enabled && f.settings.Names
}

func (f *flight) taken(id string) bool {
	_, found := f.recording(id)
	return found
}

// recording returns a recording that is kept.
func (f *flight) recording(id string) (state.Recording, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.kept, func(r state.Recording) bool { return r.ID == id })
	if i < 0 {
		return state.Recording{}, false
	}
	return f.kept[i], true
}

// Recording returns a recording that is kept; false when there is none with this id. It reads memory only.
func (d *Daemon) Recording(id string) (rec record.Recording, found bool, err error) {
	kept, found := d.flight.recording(id)
	if !found {
		return rec, false, nil
	}
	rec, err = recorder.Decode(bytes.NewReader(kept.Lines))
	rec.Bytes = kept.Bytes
	return rec, true, err
}

// describe tells what a device is, or was.
func (f *flight) describe(id string) record.Device {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.devices[id]; ok {
		return d
	}
	return record.Device{ID: id}
}

// see notes what the devices are, and returns those whose link is another one than before.
func (f *flight) see(devices []record.Device, now time.Time) (relinked map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	relinked = map[string]bool{}
	for _, d := range devices {
		relinked[d.ID] = linkOf(f.devices[d.ID]) != linkOf(d)
		f.devices[d.ID], f.seen[d.ID] = d, now
	}
	for id, at := range f.seen {
		if now.Sub(at) > forgetAfter {
			delete(f.devices, id)
			delete(f.seen, id)
		}
	}
	return relinked
}

// linkOf is what the PCIe link of a device has trained to; zero without one.
func linkOf(d record.Device) record.LinkRate {
	if d.Link == nil {
		return record.LinkRate{}
	}
	return d.Link.Current()
}

// forgetAfter is longer than the ring of the recorder reaches back.
const forgetAfter = 15 * time.Minute

// heads are those of the recordings that are kept. It needs f.mu.
func (f *flight) heads() []record.RecordingHead {
	heads := make([]record.RecordingHead, len(f.kept))
	for i, r := range f.kept {
		heads[i] = r.RecordingHead
	}
	return heads
}

// fill adds to a snapshot what is known of the recorder.
func (f *flight) fill(s *record.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Recorder = &record.RecorderStatus{Recordings: f.heads(), Written: f.written, Failed: f.failed}
}

// restoreRecordings finds the recordings that are stored. Without them, as when the directory does not answer, the daemon
// goes on: they are of the past.
func (d *Daemon) restoreRecordings() {
	s := d.shared.state
	kept, err := through(context.Background(), s, saveTimeout, state.Dir.Recordings)
	s.report(recordingsOf, err)
	d.flight.kept = kept
	if err != nil {
		d.flight.lost = time.Now() // nothing is tried again
	}
}

// tellLost is how long a recording that is lost is a problem: nothing can be done about it, and another may not come for months.
const tellLost = 5 * time.Minute

// forgetLost ends the problem of a recording that is lost. The log and ssdprobe_recordings_failures_total keep it.
func (d *Daemon) forgetLost(now time.Time) {
	f := d.flight
	f.mu.Lock()
	over := !f.lost.IsZero() && now.Sub(f.lost) >= tellLost
	if over {
		f.lost = time.Time{}
	}
	f.mu.Unlock()
	if over {
		d.shared.state.report(recordingsOf, nil)
	}
}

// recordOn writes recordings that are due until ctx ends, and then what there is of the others.
func (d *Daemon) recordOn(ctx context.Context) error {
	for schedule.Pause(ctx, time.Second) {
		d.look(time.Now())
		for _, rec := range d.flight.Due() {
			d.keepRecording(rec, saveTimeout)
		}
		d.dropRecordings()
		d.forgetLost(time.Now())
	}
	for _, rec := range d.flight.Rest("the daemon stopped") {
		d.keepRecording(rec, lastSaveTimeout)
	}
	return nil
}

// look notes what the devices are, and what was read of them.
func (d *Daemon) look(now time.Time) {
	devices := d.present()
	relinked := d.flight.see(devices, now)
	for _, device := range devices {
		r := d.health.reading(device.ID)
		r.Link = linkOf(device)
		if r.Time.IsZero() || relinked[device.ID] {
			if !relinked[device.ID] {
				continue
			}
			r.Time = now
		}
		d.flight.Read(device.ID, r)
	}
}

// present are the devices under watch.
func (d *Daemon) present() []record.Device {
	var all []record.Device
	for _, w := range d.current() {
		w.mu.Lock()
		all = append(all, w.device)
		w.mu.Unlock()
	}
	return all
}

// keepRecording writes a recording.
func (d *Daemon) keepRecording(rec record.Recording, timeout time.Duration) {
	f := d.flight
	rec.Node, rec.Generator = d.shared.node, d.generator
	err := d.writeRecording(rec, timeout)
	d.shared.state.report(recordingsOf, err)
	log := d.shared.log.With("recording", rec.ID)
	if err == nil {
		log.Info("recorded what happened; see ssdprobe record show", "from", rec.From, "until", rec.Until, "triggers", len(rec.Triggers))
	}
	lost := f.Written(rec.ID, err)
	f.mu.Lock()
	f.lost = time.Time{}
	if lost {
		f.lost = time.Now()
	}
	f.mu.Unlock()
	if lost {
		log.Error("a recording is lost: it could not be written in time", "err", err)
	}
}

func (d *Daemon) writeRecording(rec record.Recording, timeout time.Duration) error {
	f := d.flight
	lines, err := recorder.Encode(rec)
	kept := state.Recording{RecordingHead: rec.RecordingHead, Lines: lines}
	kept.Bytes = int64(len(lines))
	f.mu.Lock()
	most := f.settings.MaxBytes
	f.mu.Unlock()
	switch {
	case err == nil && kept.Bytes > most:
		err = fmt.Errorf("the recording %s has %d bytes, more than the %d of recorder.max_size", rec.ID, kept.Bytes, most)
	case err == nil:
		err = d.shared.state.save(context.Background(), timeout, func(s state.Dir) error { return s.SaveRecording(kept) })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed++
		return err
	}
	f.written++
	f.kept = append(f.kept, kept)
	return nil
}

// dropRecordings removes the recordings that are too many.
func (d *Daemon) dropRecordings() {
	f := d.flight
	f.mu.Lock()
	surplus := f.settings.Surplus(f.heads())
	f.mu.Unlock()
	for _, id := range surplus {
		err := d.shared.state.do(context.Background(), saveTimeout, func(s state.Dir) error { return s.RemoveRecording(id) })
		d.shared.state.report(recordingsOf, err)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.kept = slices.DeleteFunc(f.kept, func(r state.Recording) bool { return r.ID == id })
		f.mu.Unlock()
	}
}

// tookSecond records a second.
func (d *Daemon) tookSecond(s traffic.Second) { d.flight.Take(s, d.flight.host.Read()) }

// recordStall records what is around a stall that a person should know of, or how one ended.
func (d *Daemon) recordStall(dev traffic.Device, s record.Stall) {
	t := record.Trigger{
		Time: s.Start, Kind: record.TriggerStall, DeviceID: dev.ID,
		Text: fmt.Sprintf("no I/O completed for %d s, with %d in flight", s.Seconds(), s.InFlight),
	}
	switch {
	case s.Ongoing:
		t.Text += "; it goes on"
	case !s.Telling():
		t.Text += fmt.Sprintf(": no stall by the device (cause: %s)", s.Cause)
	}
	if w := d.ofDevice(dev.ID); w != nil {
		t.TargetID = w.spec.ID
	}
	d.trigger(t)
}

// recordVerdict records what is around a verdict that a drive or the host is slow.
func (d *Daemon) recordVerdict(e judge.Event) {
	t := record.Trigger{Time: time.Now(), Kind: record.TriggerVerdict, TargetID: e.Drive}
	switch {
	case e.Drift != nil:
		return
	case e.Drive == "" && e.State == record.Regressed:
		t.Text = fmt.Sprintf("%d drives got slower together: %s", len(e.Drives), e.Ratio)
	case e.Verdict.Blames():
		t.Text = string(e.Verdict)
		if e.Ratio.Ratio > 0 { // stalls and errors have none
			t.Text += ", " + e.Ratio.String()
		}
		t.Text += " (" + strings.Join(e.Witnesses, ", ") + ")"
	default:
		return
	}
	if w := d.current()[e.Drive]; w != nil {
		w.mu.Lock()
		t.DeviceID = w.device.ID
		w.mu.Unlock()
	}
	d.trigger(t)
}

// recordRequest records what somebody asked for. Without a target, it is about the node.
func (d *Daemon) recordRequest(r state.Request) error {
	t := record.Trigger{Time: r.Record.Asked, Kind: record.TriggerRequest, TargetID: r.Target, Text: "somebody asked for it"}
	if w := d.current()[r.Target]; w != nil {
		w.mu.Lock()
		t.DeviceID = w.device.ID
		w.mu.Unlock()
	} else if r.Target != "" {
		return fmt.Errorf("%s is not watched", r.Target)
	}
	if d.trigger(t) == "" {
		return errors.New("the recorder is off, or what was asked for is too long ago")
	}
	return nil
}

// trigger records what is around something that has happened.
func (d *Daemon) trigger(t record.Trigger) (id string) {
	ago := time.Since(t.Time)
	t.Time = t.Time.UTC().Truncate(time.Millisecond)
	t.Device = d.flight.describe(t.DeviceID).Name
	id = d.flight.Trigger(t, ago)
	if id != "" {
		d.shared.log.Debug("recording", "recording", id, "id", t.TargetID, "why", t.Text)
	}
	return id
}
