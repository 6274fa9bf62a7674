package judge

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Hosts wander: something makes all drives slower for some hours, and ends by itself. It is told once. From then on such a
// thing is news when it is worse or lasts longer than any before.
const (
	// worseThanEver and longerThanEver are how many times slower than before, or for how many times as long.
	worseThanEver, longerThanEver = 1.05, 1.5
	// wandered is for how long that is remembered.
	wandered = 30 * 24 * time.Hour
)

// wander is what is told of a statistic of the host, and what was before.
type wander struct {
	// Told is the verdict that stands; empty while nothing is told.
	Told record.DriveVerdict `json:"told,omitempty"`
	// Slower is how many times slower the host was at most, and Lasted for how long, of all that was told and ended by itself.
	Slower float64       `json:"slower,omitempty"`
	Lasted time.Duration `json:"lasted_ns,omitempty"`
	Ended  time.Time     `json:"ended,omitzero"` // the last of them
	// Most and Since are of what is told.
	Most  float64   `json:"most,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Drives are those that got slower, of Of that were compared.
	Drives []string `json:"drives,omitempty"`
	Of     int      `json:"of,omitempty"`
}

// scope says whether it is the host or a batch.
func (w *wander) scope() record.Scope {
	if float64(len(w.Drives)) < hostShare*float64(w.Of) {
		return record.ScopeBatch
	}
	return record.ScopeHost
}

// take takes what a statistic of the host is now, of which something is told from a ratio on. It reports whether that is
// news.
func (w *wander) take(x record.Drift, from float64, now time.Time) bool {
	if now.Sub(w.Ended).Abs() > wandered {
		w.Slower, w.Lasted = 0, 0
	}
	before := w.Told
	switch {
	case x.State == record.Regressed && (before != "" || x.Ratio >= from && w.unheardOf(x, now)):
		w.Told, w.Most, w.Since = w.verdict(x.Ratio), max(w.Most, x.Ratio), x.Since
	case x.State != record.Regressed && before != "":
		w.Slower, w.Lasted, w.Ended = max(w.Slower, w.Most), max(w.Lasted, now.Sub(w.Since)), now
		w.Told, w.Most, w.Since, w.Drives, w.Of = "", 0, time.Time{}, nil, 0
	}
	return w.Told.Badness() > max(before.Badness(), record.Healthy.Badness())
}

// unheardOf reports whether the host has never been so slow, or for so long.
func (w *wander) unheardOf(x record.Drift, now time.Time) bool {
	return x.Ratio >= worseThanEver*w.Slower || float64(now.Sub(x.Since)) >= longerThanEver*float64(w.Lasted)
}

// verdict is that of a ratio. One that stands is held a little below its limit, so that it does not come and go.
func (w *wander) verdict(ratio float64) record.DriveVerdict {
	severe, degraded := severeRatio, degradedRatio
	if w.Told == record.Severe {
		severe *= held
	}
	if w.Told.Blames() {
		degraded *= held
	}
	switch {
	case ratio >= severe:
		return record.Severe
	case ratio >= degraded:
		return record.Degraded
	}
	return record.Watch
}
