package top

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// askEvery is how often the daemon is asked. Verdicts change within minutes, not seconds.
	askEvery = 5 * time.Second
	// staleAfter is the greatest age of an answer that is shown.
	staleAfter = 3 * askEvery
)

// Ask asks the daemon of this node for a snapshot, and returns the address that it asked. The error is shown to
// the user in one line.
type Ask func(context.Context) (address string, s record.Snapshot, err error)

// daemon keeps the last answer of the daemon.
type daemon struct {
	ask Ask

	mu     sync.Mutex
	answer Answer
	err    error // of the last request
	drives map[string]said
	counts []counted // of the last 30 s
}

// said is what the daemon says about a drive.
type said struct {
	state   finding.State
	partly  string // as in finding.Health
	verdict *record.Judgement
	ratio   float64
	stalls  record.StallTotal
	stall   *record.Stall // in progress; nil when there is none
	p99     map[record.Operation]time.Duration
}

// follow asks the daemon every askEvery until ctx ends.
func (d *daemon) follow(ctx context.Context) error {
	again := time.Tick(askEvery)
	for {
		d.once(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		}
	}
}

func (d *daemon) once(ctx context.Context) {
	address, s, err := d.ask(ctx)
	drives, counts := map[string]said{}, counted{s.Time, map[string][]record.IOHistogram{}}
	for _, t := range s.Targets {
		drives[t.Device.ID] = worse(drives[t.Device.ID], t, s.Time)
		if t.IOLatency != nil {
			counts.of[t.Device.ID] = t.IOLatency.Histograms
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer.Address, d.err = address, err
	if err != nil {
		return
	}
	d.counts = recent(d.counts, counts)
	for id, said := range drives {
		said.p99 = p99(d.counts, id)
		drives[id] = said
	}
	d.answer.Time, d.drives = s.Time, drives
}

// watches reports whether the daemon watches something on the device with an id.
func (d *daemon) watches(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.drives[id]
	return ok
}

// worse returns d with what the daemon says about one of the targets on the drive; the worse value counts.
func worse(d said, t record.TargetStatus, now time.Time) said {
	h := finding.HealthOfTarget(t, now)
	if d.state == "" || h.State.Badness() > d.state.Badness() {
		d.state, d.partly = h.State, h.Partly
	}
	if d.verdict == nil || h.Verdict.Badness() > d.verdict.Verdict.Badness() {
		d.verdict = &h.Judgement
	}
	d.ratio = max(d.ratio, h.RatioNow().Ratio)
	if t.Traffic != nil {
		d.stalls, d.stall = blamed(t.Traffic.Stalls), ongoing(t.Traffic.Stalls) // equal for all targets on a drive
	}
	return d
}

// blamed adds up the stalls whose only explanation is the device.
func blamed(stalls []record.Stall) (total record.StallTotal) {
	for _, s := range stalls {
		if s.Cause == record.StallByDevice {
			total.Count++
			total.Length += s.Length
		}
	}
	return total
}

// ongoing returns the stall in progress, which is the last one; nil when there is none.
func ongoing(stalls []record.Stall) *record.Stall {
	if n := len(stalls); n > 0 && stalls[n-1].Ongoing {
		return &stalls[n-1]
	}
	return nil
}

// now returns the daemon's last answer and what it said about the drives. drives is nil when the answer is too
// old, or when its age is not known.
func (d *daemon) now(now time.Time) (Answer, map[string]said) {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := d.answer
	age := now.Sub(answer.Time)
	switch {
	case !answer.Time.IsZero() && age.Abs() <= staleAfter:
		return answer, d.drives
	case d.err != nil:
		answer.Problem = d.err.Error()
	case answer.Time.IsZero():
		answer.Problem = "the daemon has not answered yet"
	case age < 0:
		answer.Problem = "the clock was set back since the last answer of the daemon at " + answer.Address
	default:
		answer.Problem = fmt.Sprintf("the last answer of the daemon at %s is %s old", answer.Address, age.Truncate(time.Second))
	}
	answer.Time = time.Time{}
	return answer, nil
}
