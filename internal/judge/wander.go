package judge

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Hosts wander: something makes all drives slower for hours or days, and ends by itself. It is told once. The next such wave is
// only watched while it is no worse than one before, and lasts no longer.
const (
	// worseThanEver and longerThanEver are how many times slower than a wave before, or for how many times as long.
	worseThanEver, longerThanEver = 1.05, 1.5
	// longestWave is how long a wave lasts at most: what lasts longer did not end by itself.
	longestWave = 7 * 24 * time.Hour
	// wandered is for how long a wave is remembered, and maxWaves how many are.
	wandered, maxWaves = 30 * 24 * time.Hour, 8
)

// wave is a time in which the host was slower.
type wave struct {
	Slower float64       `json:"slower"` // how many times, at most
	Lasted time.Duration `json:"lasted_ns"`
	Ended  time.Time     `json:"ended"`
}

// wander is what is said of a statistic of the host, and what was before.
type wander struct {
	// Says is the verdict that stands, and Told the worst that was news since it became slower; empty while there is none.
	Says record.DriveVerdict `json:"says,omitempty"`
	Told record.DriveVerdict `json:"told,omitempty"`
	// Most and Since are of what is said: how many times slower at most, and from when on.
	Most  float64   `json:"most,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Caused says that conditions changed with it.
	Caused bool `json:"caused,omitempty"`
	// Drives are those that got slower, of Of that were compared.
	Drives []string `json:"drives,omitempty"`
	Of     int      `json:"of,omitempty"`
	// Waves are those that were told and ended by themselves, the last one last.
	Waves []wave `json:"waves,omitempty"`
}

// scope says whether it is the host or a batch.
func (w *wander) scope() record.Scope {
	if float64(len(w.Drives)) < hostShare*float64(w.Of) {
		return record.ScopeBatch
	}
	return record.ScopeHost
}

// take takes what a statistic of the host is now, of which something is said from a ratio on. It reports whether that is
// news.
func (w *wander) take(x record.Drift, from float64, now time.Time) bool {
	if x.State != record.Regressed {
		w.end(now)
		return false
	}
	if w.Since.IsZero() {
		w.Since = x.Since
	}
	if w.Says != "" {
		from = 1 + held*(from-1)
	}
	if x.Ratio < from { // or nothing is known of it now; what was told goes on
		w.Says = ""
		return false
	}
	w.Caused = w.Caused || len(x.Attribution) > 0
	w.Says, w.Most = ratedBy(x.Ratio, w.Says), max(w.Most, x.Ratio)
	if w.knows(now) {
		w.Says = record.Watch
		return false
	}
	if w.Told != "" && w.Says.Badness() <= w.Told.Badness() {
		return false
	}
	w.Told = w.Says
	return true
}

// end notes that the host is as fast as usual. What something changed on the host did, and what took long, is no wave.
func (w *wander) end(now time.Time) {
	if lasted := now.Sub(w.Since); w.Told != "" && !w.Caused && lasted <= longestWave {
		w.Waves = append(w.Waves, wave{w.Most, lasted, now})
		w.Waves = w.Waves[max(0, len(w.Waves)-maxWaves):]
	}
	*w = wander{Waves: w.Waves}
}

// knows reports whether a wave before was as slow and as long. What came with a change of conditions is something else, and
// what is severe is always news.
func (w *wander) knows(now time.Time) bool {
	if w.Says == record.Severe || w.Caused {
		return false
	}
	return slices.ContainsFunc(w.Waves, func(before wave) bool {
		return now.Sub(before.Ended).Abs() <= wandered && w.Says.Badness() <= ratedBy(before.Slower, "").Badness() &&
			w.Most < worseThanEver*before.Slower && float64(now.Sub(w.Since)) < longerThanEver*float64(before.Lasted)
	})
}

// ratedBy is the verdict by a ratio. One that stands is held below its limit, so that it does not come and go.
func ratedBy(ratio float64, stands record.DriveVerdict) record.DriveVerdict {
	severe, degraded := severeRatio, degradedRatio
	if stands == record.Severe {
		severe *= held
	}
	if stands.Blames() {
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

func (w *wander) validate() error {
	for _, v := range []record.DriveVerdict{w.Says, w.Told} {
		if v != "" && v != record.Watch && !v.Blames() {
			return fmt.Errorf("a verdict %q on the host", v)
		}
	}
	return nil
}
