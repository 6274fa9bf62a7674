package recorder

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// Options configure a Recorder.
type Options struct {
	Clock Clock
	// Describe returns the device with the given id. It must not block.
	Describe func(id string) record.Device
	// Taken reports whether a recording with this id already exists. It must not block.
	Taken func(id string) bool
}

// Recorder is the flight recorder. Create one with New. It is safe for concurrent use, and no method blocks for
// long.
type Recorder struct {
	options Options

	mu        sync.Mutex
	ring      *ring                    // nil while it is off
	incidents []*incident              // whose recordings are not written yet, the oldest first
	begun     map[begins]time.Duration // when each last began a recording
}

// begins identifies what begins recordings: a device and a kind of trigger.
type begins struct {
	device string
	kind   record.TriggerKind
}

// New returns a Recorder that is off.
func New(o Options) *Recorder {
	return &Recorder{options: o, begun: map[begins]time.Duration{}}
}

// Switch turns the recorder on or off. While it is off, it needs no memory; recordings that are not written yet
// are lost.
func (r *Recorder) Switch(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case on && r.ring == nil:
		r.ring = newRing()
	case !on:
		r.ring, r.incidents = nil, nil
	}
}

// Take stores a second.
func (r *Recorder) Take(s traffic.Second, host Host) {
	wall, steady := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring != nil {
		r.ring.take(wall, steady, s, host)
	}
}

// Read stores what was read from a device, if the device is recorded.
func (r *Recorder) Read(id string, reading Reading) {
	_, steady := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return
	}
	if c, ok := r.ring.devices[id]; ok {
		c.readings.take(steady, reading)
	}
}

// Trigger requests a recording of the minute before and the minute after an event that happened ago before now.
// If a recording is in progress, the trigger is added to it and extends it. A stall may be reported again, with
// a new text, when more is known. Trigger returns the id of the recording; empty when there is none.
func (r *Recorder) Trigger(t record.Trigger, ago time.Duration) (id string) {
	_, now := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return ""
	}
	ago = max(0, ago) // the clock may have been set back in between
	at := now - ago
	if ago > keep-around { // no longer in memory
		return ""
	}
	if i := r.going(at, now, t); i != nil {
		i.add(t, at, now)
		return i.id
	}
	maps.DeleteFunc(r.begun, func(_ begins, at time.Duration) bool { return now-at >= again })
	who := begins{cmp.Or(t.DeviceID, t.TargetID), t.Kind}
	if _, lately := r.begun[who]; lately && t.Kind != record.TriggerRequest {
		return ""
	}
	i := &incident{from: at - around, until: at + around, triggers: []record.Trigger{t}}
	i.id = name(t, func(id string) bool {
		return r.options.Taken(id) || slices.ContainsFunc(r.incidents, func(other *incident) bool { return other.id == id })
	})
	r.incidents = append(r.incidents, i)
	r.begun[who] = now
	return i.id
}

// going returns the incident in progress that a trigger belongs to; nil when there is none.
func (r *Recorder) going(at, now time.Duration, t record.Trigger) *incident {
	for _, i := range r.incidents {
		if now <= i.until && (at <= i.until || i.has(t) >= 0) {
			return i
		}
	}
	return nil
}

// Unfinished returns the heads of the recordings that are not written yet, the oldest first. Until is when each will be
// complete, unless further triggers extend it.
func (r *Recorder) Unfinished() (heads []record.RecordingHead) {
	wall, now := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.incidents {
		heads = append(heads, record.RecordingHead{
			ID: i.id, From: wall.Add(i.from - now), Until: wall.Add(i.until - now), Triggers: slices.Clone(i.triggers), MoreTriggers: i.more,
		})
	}
	return heads
}

// Due returns the recordings that are complete and must be written. Each is returned until Written is called
// for it.
func (r *Recorder) Due() []record.Recording {
	_, now := r.options.Clock()
	return r.recordings("", func(i *incident) bool { return now > i.until && now >= i.retry })
}

// Rest returns all recordings that are not written yet, complete or not. why says why incomplete ones end
// early.
func (r *Recorder) Rest(why string) []record.Recording {
	return r.recordings(why, func(*incident) bool { return true })
}

func (r *Recorder) recordings(cut string, wanted func(*incident) bool) (all []record.Recording) {
	_, now := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.incidents {
		if !wanted(i) {
			continue
		}
		rec := r.ring.recording(i.from, i.until, i.wanted(), r.options.Describe)
		rec.ID, rec.Triggers, rec.MoreTriggers = i.id, slices.Clone(i.triggers), i.more
		switch {
		case now < i.until:
			rec.Cut = cut
		case stalls(rec, i.wanted()):
			rec.Cut = "it ends while a device stalls"
		}
		all = append(all, rec)
	}
	return all
}

// stalls reports whether one of the devices stalls at the end of a recording.
func stalls(rec record.Recording, devices []string) bool {
	return slices.ContainsFunc(rec.Devices, func(d record.DeviceRecording) bool {
		return slices.Contains(devices, d.Device.ID) && len(d.Seconds) > 0 && d.Seconds[len(d.Seconds)-1].Stall != ""
	})
}

// Written notes the result of writing a recording. If err is not nil, the recording is due again later, unless
// its seconds will no longer be in memory; lost then says that the recording is lost.
func (r *Recorder) Written(id string, err error) (lost bool) {
	_, now := r.options.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.incidents, func(i *incident) bool { return i.id == id })
	if at < 0 {
		return err != nil
	}
	if err != nil {
		i := r.incidents[at]
		i.retry = now + retry
		if first, ok := r.ring.first(); ok && i.retry < i.until+keep-longest && first <= i.until {
			return false
		}
	}
	r.incidents = slices.Delete(r.incidents, at, at+1)
	return err != nil
}

// compareNames sorts nvme2n1 before nvme10n1.
func compareNames(a, b record.Device) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}
