package traffic

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// device is a watched Device. Fields that rounds and snapshots read are changed under Sampler.mu; source is
// changed under both Sampler.reading and Sampler.mu.
type device struct {
	Device
	asking  guard.Guard
	source  counters.Source
	above   []string // numbers of the watched devices that are built on it
	account account  // only the goroutine of Run changes its stalls
	last    *record.Traffic
	held    *record.HeldBack

	// Only the goroutine of Run uses the fields below.
	idle  time.Time // since when a round of ours has waited with nothing in flight
	blind bool      // whether the device does not count, when that was last looked at
}

// cause returns what explains that the device completes nothing now.
func (d *device) cause(s *Sampler) record.StallCause {
	return causeOf(s.options.FS, append([]string{d.Number}, d.source.Below()...), d.Controllers, d.Run)
}

// newDevice finds out how a device counts its I/O, and whether it does. If that is unknown, only the device's own
// counters are used.
func newDevice(ctx context.Context, host sysfs.FS, w Device) *device {
	d := &device{Device: w, source: counters.Source{Number: w.Number}}
	d.blind = d.off(ctx, host)
	if source, err := counters.FindSource(host, w.Number); err == nil {
		d.source = source
	}
	return d
}

// unusable returns why the counts of the device mean nothing; empty when they mean something.
func (d *device) unusable() string {
	if d.blind {
		return byBlind
	}
	return ""
}

// second processes the reading at the end of a second. here is false when the device was absent, and nobodys is
// true when the second must be discarded. second returns the stalls to report and whether the interval is over.
func (d *device) second(s *Sampler, r reading, here, nobodys bool) (told []record.Stall, over bool) {
	var cause record.StallCause
	if here && !nobodys && d.account.stalls.stands(r) { // no lock needed: only this goroutine changes stalls
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
	d.blind = d.blind && d.account.idle() // otherwise its statistics are on again
	d.account.ours, d.account.round = d.account.run || d.account.round || s.ours(d), false
	d.account.tick(r.at)
	if nobodys {
		told = d.account.stalls.miss()
	} else {
		told = d.account.stalls.tick(r, cause)
	}
	return told, r.at.Sub(d.account.began.at) >= interval-beat
}

// askTimeout is how long a device may take to say whether it counts. Reading a queue attribute waits for
// whoever is writing one, and a device that hangs may block that writer.
const askTimeout = 100 * time.Millisecond

// off reports whether the statistics of the device are switched off.
func (d *device) off(ctx context.Context, host sysfs.FS) bool {
	on, err := guard.Do(ctx, &d.asking, askTimeout, func(context.Context) (string, error) {
		return host.Text(path.Join("/sys/dev/block", d.Number, "queue/iostats"))
	})
	return err == nil && on == "0" && !countsAnyway(host, d.Number)
}

// countsAnyway reports whether the driver of a device counts I/O whatever queue/iostats says. Drivers without a queue of requests
// do their own counting, and some of them neither set the switch nor look at it: it is 0 from the start. The device mapper looks
// at it since Linux 6.5 ("dm: support turning off block-core's io stats accounting").
func countsAnyway(host sysfs.FS, number string) bool {
	dir, err := host.Resolve(path.Join("/sys/dev/block", number))
	if err != nil {
		return false
	}
	of := func(driver string) bool { return strings.HasPrefix(path.Base(dir), driver) }
	return slices.ContainsFunc([]string{"bcache", "drbd", "zram"}, of) || of("dm-") && !counters.LinuxIsAtLeast(host, 6, 5)
}
