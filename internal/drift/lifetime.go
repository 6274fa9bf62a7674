package drift

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The levels of a probe follow the changes of conditions. An effect below 1.2 times is not told, as most are of kernels, but
// many of them add up. So the levels of each epoch are also compared with a lifetime reference: the first final baseline. A later
// one replaces it if it was certainly faster for a week. The best of many baselines would be biased: noise makes some look fast.

// provenAfter is how long a faster baseline must have been in use to become the lifetime reference.
const provenAfter = 7 * 24 * time.Hour

// aged is how much slower than its lifetime reference the level of a statistic is. What somebody accepted is not counted.
type aged struct {
	Since  int64 `json:"since,omitempty"`  // the slot at which the reference was learned; 0 while there is none
	Slower Shift `json:"slower,omitempty"` // by all changes of conditions since
	Within Shift `json:"within,omitempty"` // half the width of the 95 % interval of Slower
}

// add counts the effect of a change, which has moved the level.
func (a *aged) add(by Shift, c estimate) {
	a.Slower += by
	if c.bounded {
		a.Within = Shift(math.Hypot(float64(a.Within), float64(c.upper-c.lower)/2))
	}
}

func (a aged) ratio() record.Ratio {
	return record.Ratio{Ratio: a.Slower.Ratio(), Lower: (a.Slower - a.Within).Ratio(), Upper: (a.Slower + a.Within).Ratio()}
}

// ageing returns how much slower than their references the levels of an epoch that is left are. Tails have none: an hour says too
// little about what a change did to them.
func (e *epoch) ageing(now time.Time) [statistics]aged {
	out := e.Lifetime
	for i, statistic := range e.names {
		a := &out[i]
		switch {
		case statistic.IsTail() || !e.Baseline.Of[i].learned():
			*a = aged{}
		case a.Since == 0, a.Slower+a.Within < 0 && !e.Inherited && now.Sub(e.Learned) >= provenAfter: // an inherited baseline is older than the epoch
			*a = aged{Since: slot(e.Learned)}
		}
	}
	return out
}

// renewLifetime makes the present levels the lifetime reference, as somebody accepted them.
func (e *epoch) renewLifetime(now time.Time) {
	for i := range e.Lifetime {
		if a := &e.Lifetime[i]; a.Since != 0 {
			*a = aged{Since: slot(now)}
		}
	}
}

// lifetime returns how many times slower than its lifetime reference each statistic became with the changes of conditions since;
// nil if there was none.
func (e *epoch) lifetime() map[record.Statistic]record.Lifetime {
	var out map[record.Statistic]record.Lifetime
	for i, statistic := range e.names {
		if a := e.Lifetime[i]; a.Since != 0 {
			if out == nil {
				out = map[record.Statistic]record.Lifetime{}
			}
			out[statistic] = record.Lifetime{Ratio: a.ratio(), Since: slotTime(a.Since)}
		}
	}
	return out
}
