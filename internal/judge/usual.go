package judge

import (
	"fmt"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A host has a baseline of a day, but many hosts wander by a few percent over days. How slow a host usually is, and how much
// that varies, shows in the days since. What it does now is compared with that.
const (
	// usualBlocks is how many blocks it is averaged over: ten days.
	usualBlocks = 10 * float64(dayBlocks)
	// usualOver is the time whose median counts in each block: a verdict is made of about as long a time.
	usualOver = 3 * time.Hour
	// mostUsual bounds, as a ratio, how slow a host may usually be. One that gets slower and slower is reported.
	mostUsual = 1.08
	// deviations is how many standard deviations slower than usually a host must be to be reported, and mostVaries the ratio
	// that is always enough.
	deviations = 4
	mostVaries = degradedRatio
)

// usual is how slow a host usually is.
type usual struct {
	// Mean and Variance are those of the logarithm of how many times slower than its baseline the host was.
	Mean     float64 `json:"mean,omitempty"`
	Variance float64 `json:"variance,omitempty"`
	// Blocks is how many blocks they come from, up to usualBlocks. The day of the baseline is among them.
	Blocks float64 `json:"blocks,omitempty"`
}

// learn adds a block.
func (u *usual) learn(by drift.Shift) {
	u.Blocks = min(usualBlocks, max(float64(dayBlocks), u.Blocks)+1)
	off := math.Log(by.Ratio()) - u.Mean
	u.Mean += off / u.Blocks
	u.Variance += (off*off*(1-1/u.Blocks) - u.Variance) / u.Blocks
}

// ratio returns how many times slower than its baseline the host usually is, from 1 to mostUsual.
func (u *usual) ratio() float64 { return min(mostUsual, max(1, math.Exp(u.Mean))) }

// varies returns how many times slower than usually the host may be by itself, up to mostVaries.
func (u *usual) varies() float64 { return min(mostVaries, math.Exp(deviations*math.Sqrt(u.Variance))) }

// endAtUsual ends slowdowns of a host that has been about as fast as usual for usualOver, which may be slower than its baseline. One
// that was not reported must not go on, either: it would be reported when the host is next slow, as one of long ago. While something
// is expected at this time, only that may hide a slowdown.
func (g *group) endAtUsual(now time.Time) (events []drift.Event) {
	if g.host == nil {
		return nil
	}
	for i := range g.host.Statistics() {
		w := &g.wanders[i]
		by, blocks := g.host.ShiftSince(i, now.Add(-usualOver))
		if w.Says != "" || !w.Host || blocks == 0 || 2*(by.Ratio()/w.Usual.ratio()-1) >= g.toldFrom()-1 {
			continue
		}
		ends := w.Told != "" || g.host.StateOf(i) == record.Regressed && now.Sub(g.host.Onset(i)) >= usualOver
		if ends && !g.expects(i, now) {
			events = append(events, g.host.End(i, now)...)
		}
	}
	return events
}

// expects reports whether the host is expected to be slower at this time, or was so within usualOver.
func (g *group) expects(i int, now time.Time) bool {
	for slot := drift.Slot(now.Add(-usualOver)); slot <= drift.Slot(now); slot++ {
		if g.host.Expected(i, slot) > 0 {
			return true
		}
	}
	return false
}

func (u *usual) validate() error {
	const most = 100 // math.Exp of it is beyond all that is measured
	if u.Blocks < 0 || u.Blocks > usualBlocks || u.Variance < 0 || u.Variance > most*most || math.Abs(u.Mean) > most {
		return fmt.Errorf("what a host usually does: %+v; expected 0 to %.0f blocks, a mean from -%d to %d and a variance from 0 to %d", *u, usualBlocks, most, most, most*most)
	}
	return nil
}
