package traffic

import (
	"context"
	"path"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// device is a Device under watch. What rounds and snapshots read is changed with Sampler.mu, and source
// with both locks.
type device struct {
	Device
	asking  guard.Guard
	source  counters.Source
	above   []string // numbers of the devices under watch that are made of it
	account account  // its stalls are changed by the goroutine of Run alone
	last    *record.Traffic
	held    *record.HeldBack
	idle    time.Time // since when a round of ours waits with nothing in flight, for the goroutine of Run alone
}

// cause says what explains that the device completes nothing now.
func (d *device) cause(s *Sampler) record.StallCause {
	return causeOf(s.options.FS, append([]string{d.Number}, d.source.Below()...), d.Controllers, d.Run)
}

// newDevice finds out how a device counts. Where that cannot be seen, it counts itself.
func newDevice(host sysfs.FS, w Device) *device {
	d := &device{Device: w, source: counters.Source{Number: w.Number}}
	if source, err := counters.FindSource(host, w.Number); err == nil {
		d.source = source
	}
	return d
}

// second takes what was read at the end of a second; here is false when the device was not there.
// It returns the stalls to be told of, and whether the interval is over.
func (d *device) second(s *Sampler, r reading, here, nobodys bool) (told []record.Stall, over bool) {
	var cause record.StallCause
	if here && !nobodys && d.account.stalls.stands(r) { // nobody else changes its stalls
		cause = d.cause(s)
	}
	held := d.heldBack(s, r, here && !nobodys)
	s.mu.Lock()
	defer s.mu.Unlock()
	d.held = held
	if !here {
		d.last = nil
		return d.account.away(), false
	}
	d.account.runs(d.Run)
	d.account.take(r, !nobodys && !s.ours(d))
	d.account.ours, d.account.round = d.account.run || d.account.round || s.ours(d), false
	d.account.tick(r.at)
	if nobodys {
		told = d.account.stalls.miss()
	} else {
		told = d.account.stalls.tick(r, cause)
	}
	return told, r.at.Sub(d.account.began.at) >= interval-beat
}

// askTimeout is how long a device may take to say whether it counts. Attributes of its queue wait
// for whoever changes one, as somebody may who is stopped by a device that hangs.
const askTimeout = 100 * time.Millisecond

// off reports whether the statistics of the device are switched off.
func (d *device) off(ctx context.Context, host sysfs.FS) bool {
	on, err := guard.Do(ctx, &d.asking, askTimeout, func(context.Context) (string, error) {
		return host.Text(path.Join("/sys/dev/block", d.Number, "queue/iostats"))
	})
	return err == nil && on == "0"
}
