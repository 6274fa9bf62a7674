package daemon

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// recordingsOf is the id under which problems with the recordings are reported.
const recordingsOf = "recordings"

// sizeProblem says why recordings of up to most bytes do not fit into the memory that the process may use; empty when
// they do. The rest of the daemon needs two thirds of a suitable memory limit.
func sizeProblem(most, memory int64) string {
	if most <= memory/3 {
		return ""
	}
	return fmt.Sprintf("recorder.max_size is %d MiB, and this process may use %d MiB of memory, in which recordings are held; "+
		"lower recorder.max_size, or raise the limit: GOMEMLIMIT, MemoryMax= of the unit or the memory limit of the pod", most>>20, memory>>20)
}

// tellSize warns when recordings may take too much memory.
func (d *Daemon) tellSize(s recorder.Settings) {
	if problem := sizeProblem(s.MaxBytes, debug.SetMemoryLimit(-1)); s.Enabled && problem != "" {
		d.shared.log.Warn("recorder", "warning", problem)
	}
}

func (f *flight) taken(id string) bool {
	_, found := f.recording(id)
	return found
}

// recording returns the kept recording with this id.
func (f *flight) recording(id string) (state.Recording, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.kept, func(r state.Recording) bool { return r.ID == id })
	if i < 0 {
		return state.Recording{}, false
	}
	return f.kept[i], true
}

// Recording returns the kept recording with this id, or false when there is none. It only reads memory.
func (d *Daemon) Recording(id string) (rec record.Recording, found bool, err error) {
	kept, found := d.flight.recording(id)
	if !found {
		return rec, false, nil
	}
	rec, err = recorder.Decode(bytes.NewReader(kept.Lines))
	rec.Bytes = kept.Bytes
	return rec, true, err
}

// heads returns the heads of the kept recordings. It needs f.mu.
func (f *flight) heads() []record.RecordingHead {
	heads := make([]record.RecordingHead, len(f.kept))
	for i, r := range f.kept {
		heads[i] = r.RecordingHead
	}
	return heads
}

// fill adds the status of the recorder to a snapshot.
func (f *flight) fill(s *record.Snapshot, generator string) {
	unfinished := f.Unfinished()
	for i := range unfinished {
		unfinished[i].Node, unfinished[i].Generator = s.Node, generator
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Recorder = &record.RecorderStatus{Recordings: f.heads(), Unfinished: unfinished, Written: f.written, Failed: f.failed}
}

// restoreRecordings loads the stored recordings. If that fails, as when the directory hangs, the daemon continues
// without them, because they are only about the past.
func (d *Daemon) restoreRecordings() {
	s := d.shared.state
	kept, err := through(context.Background(), s, saveTimeout, state.Dir.Recordings)
	s.report(recordingsOf, err)
	d.flight.kept = kept
	if err != nil {
		d.flight.lost = time.Now() // loading is not retried
	}
}

// tellLost is how long a lost recording is reported as a problem. Nothing can be done about it, and the next
// recording may be months away.
const tellLost = 5 * time.Minute

// forgetLost stops reporting a lost recording as a problem. The log and ssdprobe_recordings_failures_total still have
// it.
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

// keepRecording writes a recording to the state directory.
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

// dropRecordings removes the recordings that exceed the limits.
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
