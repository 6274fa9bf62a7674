package judge

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Hosts wander: something makes all drives slower for hours or days, and ends by itself. The first such wave is
// reported. The next one is only watched while it is neither slower nor longer than an earlier one.
const (
	// worseThanEver and longerThanEver are the ratios by which a wave must be slower or longer than an earlier one to
	// be news.
	worseThanEver, longerThanEver = 1.05, 1.5
	// longestWave is the maximum length of a wave: a longer slowdown did not end by itself.
	longestWave = 7 * 24 * time.Hour
	// wandered is how long a wave is remembered, and maxWaves how many waves are.
	wandered, maxWaves = 30 * 24 * time.Hour, 8
)

// wave is a time in which the host was slower.
type wave struct {
	Slower float64       `json:"slower"`         // how many times slower it was at most
	Host   bool          `json:"host,omitempty"` // and not only a batch
	Lasted time.Duration `json:"lasted_ns"`
	Ended  time.Time     `json:"ended"`
}

// wander is what is reported of one statistic of the host, and its earlier waves.
type wander struct {
	// Says is the verdict that stands, and Told the worst verdict that was reported since the host became slower;
	// empty while there is none.
	Says record.DriveVerdict `json:"says,omitempty"`
	Told record.DriveVerdict `json:"told,omitempty"`
	// Most is how many times slower the host has been at most, and Since when it was first slower by so much that it counts.
	// The onset of the drift does not say that: the host may have been a little slower long before. Until is when it was last.
	Most  float64   `json:"most,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Caused says that conditions changed when the host became slower.
	Caused bool `json:"caused,omitempty"`
	// Drives are the drives that got slower, out of the Of that were compared. Mixed says that each that did not is
	// like one that did, and Blurred that there is no clear line between them, either.
	Drives  []string `json:"drives,omitempty"`
	Of      int      `json:"of,omitempty"`
	Mixed   bool     `json:"mixed,omitempty"`
	Blurred bool     `json:"blurred,omitempty"`
	// Host says that nearly all of them did. WithHost says that it is so of another statistic, which became slower at the same
	// time: the drives that show it less by this one are no batch beside the others.
	Host     bool `json:"host,omitempty"`
	WithHost bool `json:"with_host,omitempty"`
	// Usual is what the host does while nothing is reported.
	Usual usual `json:"usual,omitzero"`
	// Waves are the waves that were reported and ended by themselves, the last one last.
	Waves []wave `json:"waves,omitempty"`
}

// scope says whether it is the host or a batch.
func (w *wander) scope() record.Scope {
	if w.Host || w.WithHost {
		return record.ScopeHost
	}
	return record.ScopeBatch
}

// nearlyAll reports whether nearly all drives got slower. What was found to be so remains so until clearly fewer are slower, as
// drives seem to be fast now and then.
func (w *wander) nearlyAll() bool {
	share := hostShare
	switch {
	case w.Blurred && w.Of >= manyDrives:
		share = blurredShare
	case w.Mixed && w.Of >= manyDrives:
		share = mixedShare
	}
	if w.Host {
		share *= stillNearlyAll
	}
	return w.Of > 0 && float64(len(w.Drives)) >= share*float64(w.Of)
}

// most reports whether so many drives got slower that the others may seem to be fast by chance.
func (w *wander) most() bool { return 3*len(w.Drives) >= 2*w.Of }

// take takes the current state of a statistic of the host, which is reported from a ratio on if it lasts, and the waves that its
// other statistics have shown. It returns whether that is news. If the host is expected to be slower at this time of day, that may
// hide that it still is. What the probes refute is not reported.
func (w *wander) take(x record.Drift, from float64, pair, expected, refuted bool, others []wave, now time.Time) bool {
	if x.State != record.Regressed {
		w.end(now)
		return false
	}
	if w.Since.After(now) && !x.Since.After(now) { // that was while the clock was ahead; the drift has another onset since
		w.Since, w.Until = now, now
	}
	w.Caused = w.Caused || len(x.Attribution) > 0
	ratio := x.Ratio
	if w.scope() == record.ScopeHost && !w.Caused { // neither a batch nor a new kernel is a host that wanders
		ratio /= w.Usual.ratio()
		if w.Told == "" {
			from = max(from, w.Usual.varies())
		}
	}
	if w.Says != "" {
		from = 1 + held*(from-1)
	}
	if ratio < from || w.Of == 0 || refuted { // or the ratio is not known (0) now, or not whose it is; Told stays as it is
		w.Says = ""
		if w.Told == "" && ratio > 0 && w.Of > 0 && !expected {
			w.Since = time.Time{}
		}
		return false
	}
	if w.Since.IsZero() {
		w.Since = now
	}
	w.Until = now
	w.Says, w.Most = ratedBy(ratio, w.Says), max(w.Most, ratio)
	coincides := w.Told == "" && !w.Caused && ratio < certainRatio && now.Sub(w.Since) < w.lasts(ratio, pair)
	if coincides || w.knows(others, x.Since, now) {
		w.Says = record.Watch
		return false
	}
	if w.Told != "" && w.Says.Badness() <= w.Told.Badness() {
		return false
	}
	w.Told = w.Says
	return true
}

// What drives wander by coincides for hours. Where that may look like a slow host or a batch, a slowdown by less than byChance must last
// for noChance. Noise may make 1.28 of 1.3.
const (
	byChance = 1.28
	noChance = 12 * time.Hour
)

// lasts returns for how long the slowdown by a ratio must last to be reported, if no conditions changed. Of two drives, the spells in
// which they collect garbage coincide for minutes. A batch without a clear line may be drives that seem to be slow by chance.
func (w *wander) lasts(ratio float64, pair bool) time.Duration {
	vague := w.Blurred && w.scope() == record.ScopeBatch
	switch {
	case ratio < byChance && (pair || vague):
		return noChance
	case pair:
		return tailLasts
	}
	return 0
}

// end notes that the host is as fast as usual. A slowdown that came with a change of conditions, or that lasted
// longer than longestWave, is no wave.
func (w *wander) end(now time.Time) {
	if w.Until.IsZero() { // the state of an older version does not have it
		w.Until = now
	}
	if lasted := w.Until.Sub(w.Since); w.Told != "" && !w.Caused && lasted <= longestWave {
		w.Waves = append(w.Waves, wave{w.Most, w.scope() == record.ScopeHost, lasted, w.Until})
		w.Waves = w.Waves[max(0, len(w.Waves)-maxWaves):]
	}
	*w = wander{Usual: w.Usual, Waves: w.Waves}
}

// knows reports whether an earlier wave was as slow and as long. If nearly all drives are slower and that is not reported yet, it
// may be a wave of another statistic, because it is one host. A slowdown that came with a change of conditions is
// something else, and so is one whose onset is longer ago than longestWave, even if it was less slow in between. Severe is news
// unless it is a host's that recurs at that time of day.
func (w *wander) knows(others []wave, onset, now time.Time) bool {
	waves := w.Waves
	if w.scope() == record.ScopeHost && w.Told == "" {
		waves = slices.Concat(waves, others)
	}
	return !w.Caused && now.Sub(onset) <= longestWave && slices.ContainsFunc(waves, func(before wave) bool {
		return now.Sub(before.Ended).Abs() <= wandered && w.Says.Badness() <= ratedBy(before.Slower, "").Badness() &&
			(w.Says != record.Severe || w.scope() == record.ScopeHost && before.isAtTimeOfDay(w.Since)) &&
			w.Most < worseThanEver*before.Slower && float64(now.Sub(w.Since)) < longerThanEver*float64(before.Lasted)
	})
}

// shows returns the waves of the whole host that a statistic has shown, and the one that is reported now.
func (w *wander) shows(now time.Time) []wave {
	waves := slices.DeleteFunc(slices.Clone(w.Waves), func(x wave) bool { return !x.Host })
	if w.Told != "" && !w.Caused && w.scope() == record.ScopeHost {
		waves = append(waves, wave{w.Most, true, now.Sub(w.Since), now})
	}
	return waves
}

// isAtTimeOfDay reports whether the wave began at about this time of day. What takes longer than half a day has no time of day.
func (w wave) isAtTimeOfDay(at time.Time) bool {
	const day = 24 * time.Hour
	off := at.Sub(w.Ended.Add(-w.Lasted)).Abs() % day
	return w.Lasted <= day/2 && min(off, day-off) <= together
}

// ratedBy returns the verdict for a ratio. A verdict that stands is held below its limit, so that it does not come
// and go.
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
	return w.Usual.validate()
}
