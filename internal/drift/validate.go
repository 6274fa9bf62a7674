package drift

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// maxShift is beyond all that is measured.
	maxShift = 1_000_000
	// maxSlot is that of the year 9999, the last that JSON can write.
	maxSlot = 253402300799 / int64(blockLength/time.Second)
	// maxStored bounds lists in a state that was read: no tracker keeps as many.
	maxStored = 100_000
)

// validate refuses a state that no tracker can have written.
func (s State) validate() error {
	for i, e := range s.Epochs {
		if err := e.validate(); err != nil {
			return fmt.Errorf("epoch %d: %w", i, err)
		}
	}
	for statistic, v := range s.Verdicts {
		if err := v.validate(); err != nil {
			return fmt.Errorf("statistic %s: %w", statistic, err)
		}
	}
	if learned := len(s.Epochs) > 0 && s.Epochs[len(s.Epochs)-1].learned(); !learned {
		for statistic, v := range s.Verdicts {
			if v.State != record.Learning {
				return fmt.Errorf("statistic %s is %s without a baseline", statistic, v.State)
			}
		}
	}
	for statistic, c := range s.Compared {
		if err := c.validate(); err != nil {
			return fmt.Errorf("statistic %s: %w", statistic, err)
		}
	}
	for _, b := range s.Closed {
		if !b.valid() {
			return fmt.Errorf("an impossible block %v", b)
		}
	}
	if len(s.Epochs) == 0 && (len(s.Recent) > 0 || len(s.Open.Points) > 0 || len(s.Closed) > 0) {
		return errors.New("there are blocks without an epoch")
	}
	if len(s.Recent) > recentBlocks || len(s.Open.Points) > maxStored || !isSlot(s.Open.Slot) {
		return errors.New("the recent blocks cannot be")
	}
	if len(s.Latest) > latestRounds {
		return fmt.Errorf("%d last rounds", len(s.Latest))
	}
	for _, p := range slices.Concat(s.Open.Points, s.Latest) {
		if !isObserved(p.Load) || !p.Shifts.valid() {
			return fmt.Errorf("an impossible round %v", p)
		}
	}
	for _, j := range s.Recent {
		if !isSlot(j.Slot) || !j.Shifts.valid() {
			return fmt.Errorf("an impossible block %v", j)
		}
	}
	for slot, x := range s.WithDay {
		if !x.valid() {
			return fmt.Errorf("impossible shifts %v of the block at slot %d", x, slot)
		}
	}
	return nil
}

func (e epoch) validate() error {
	for _, r := range e.Samples {
		if !r.Values.valid() {
			return fmt.Errorf("a learned round has impossible values %v", r.Values)
		}
		if !isSlot(slot(r.Time)) {
			return fmt.Errorf("a learned round is of an impossible time %v", r.Time)
		}
	}
	for _, b := range slices.Concat(e.Blocks, e.Beyond, e.Late) {
		if !b.valid() {
			return fmt.Errorf("an impossible block %v", b)
		}
	}
	for _, j := range e.After {
		if !isSlot(j.Slot) || !j.Shifts.valid() {
			return fmt.Errorf("an impossible block %v", j)
		}
	}
	if (len(e.After) > 0 || e.Inherited) && e.Baseline == nil || len(e.After) > effectBlocks || e.Before != nil && (e.Previous == nil || !e.Before.valid()) ||
		e.Doubt != nil && (e.Before == nil || !e.Doubt.Lower.valid() || !e.Doubt.Upper.valid()) {
		return errors.New("what was inherited cannot be")
	}
	for _, a := range e.Lifetime {
		if !isSlot(a.Since) || !(Shifts{a.Slower, a.Within}).valid() || a.Within < 0 {
			return fmt.Errorf("an impossible lifetime reference %v", a)
		}
	}
	for _, s := range e.Assumed {
		if !isSlot(s) {
			return fmt.Errorf("a level of an impossible slot %d", s)
		}
	}
	if most := max(len(e.Blocks), len(e.Beyond), len(e.Late)); most > finalBlocks {
		return fmt.Errorf("%d blocks are more than a baseline takes", most)
	}
	if len(e.Late) > 0 && !e.final() {
		return errors.New("a baseline that is not final learns nothing late")
	}
	switch {
	case e.Baseline == nil && e.Learned.IsZero():
		return nil
	case e.Baseline == nil || e.Learned.IsZero():
		return errors.New("a baseline and the time it was learned need each other")
	}
	if !e.Reference.valid() || slices.ContainsFunc(slices.Collect(maps.Values(e.Values)), func(v float64) bool { return !(Values{v}).valid() }) {
		return fmt.Errorf("the baseline's values are %v, which cannot be", e.Values)
	}
	return e.Baseline.validate()
}

func (b block) valid() bool {
	return isSlot(b.Slot) && isObserved(b.Load) && b.Rounds >= 1 && b.Level.valid() && b.Worst.valid()
}

func (b *baseline) validate() error {
	if !slices.Contains([]record.Maturity{record.Early, record.Provisional, record.Final}, b.Maturity) {
		return fmt.Errorf("unknown maturity %q", b.Maturity)
	}
	if !isLoad(b.MaxLoad) {
		return fmt.Errorf("a load of %d thousandths", b.MaxLoad)
	}
	for i := range b.Of {
		if err := b.Of[i].validate(b.Maturity); err != nil {
			return fmt.Errorf("baseline of statistic %d: %w", i, err)
		}
	}
	return nil
}

func (n norm) validate(maturity record.Maturity) error {
	for i, k := range n.Curve {
		if !isLoad(k.Load) || !k.Shift.valid() || (i > 0 && k.Load <= n.Curve[i-1].Load) {
			return fmt.Errorf("the load curve %v cannot be", n.Curve)
		}
	}
	if !n.Host.valid() {
		return fmt.Errorf("a host's part of %d cannot be", n.Host)
	}
	if !n.learned() {
		return nil
	}
	if (maturity == record.Early) && n.knowsNoise() || (n.knowsNoise() && len(n.Curve) == 0) || len(n.Residuals) > finalBlocks ||
		!slices.IsSortedFunc(n.Residuals, cmp.Compare) || slices.ContainsFunc(n.Residuals, func(s Shift) bool { return !s.valid() }) {
		return errors.New("the residuals cannot be")
	}
	if n.knowsNoise() && (n.Autocorrelation < 1 || n.Autocorrelation > 1000 || n.SlowAutocorrelation < 1 || n.SlowAutocorrelation > 1000 || n.SlowShare <= 0 || n.SlowShare > 1) {
		return fmt.Errorf("an autocorrelation factor of %v or a share of slow blocks of %v cannot be", n.Autocorrelation, n.SlowShare)
	}
	if !isExpected(n.Daily, daySlots) || !isExpected(n.Weekly, weekSlots) {
		return errors.New("what is expected of a day or a week cannot be")
	}
	if !n.LargeAbove.valid() || !n.SlowAbove.valid() || !n.Spells[0].valid() || !n.Spells[1].valid() {
		return errors.New("the limits cannot be")
	}
	return nil
}

func (v verdict) validate() error {
	if !slices.Contains(record.DriftStates(), v.State) || !v.State.Judged() && v.State != record.Learning {
		return fmt.Errorf("unknown state %q", v.State)
	}
	for _, s := range slices.Concat(v.Slower[:], v.Faster[:], []cusum{v.Slow, v.Back}) {
		if s.Value < 0 || s.Value > 1e6 || !isSlot(s.Since) {
			return fmt.Errorf("a CUSUM of %v since slot %d cannot be", s.Value, s.Since)
		}
	}
	if !v.BackReference.valid() || v.BackThreshold < 0 || v.BackThreshold > 1e6 {
		return errors.New("what ends the drift cannot be")
	}
	if !v.Size.valid() || v.Before > 0 || v.Before < -ShiftOf(mostBelow) {
		return errors.New("the size of the drift cannot be")
	}
	if v.Fast.Count < 0 || v.Fast.Others < 0 || len(v.Fast.Shifts) > stretchKept {
		return errors.New("the run of slow rounds cannot be")
	}
	for _, s := range v.Fast.Shifts {
		if !s.valid() {
			return errors.New("the run of slow rounds cannot be")
		}
	}
	return nil
}

// valid reports whether a shift can be: it may be a difference of measured ones.
func (s Shift) valid() bool { return !s.Known() || s >= -4*maxShift && s <= 4*maxShift }

func (s Shifts) valid() bool {
	return !slices.ContainsFunc(s[:], func(s Shift) bool { return !s.valid() })
}

func isLoad(n int) bool { return n >= 0 && n <= 1000 }

func isObserved(load int) bool { return load == unseen || isLoad(load) }

func isSlot(n int64) bool { return n >= 0 && n <= maxSlot }

// isExpected reports whether expectations are of slots below a number, and possible.
func isExpected(of map[int64]Shift, slots int64) bool {
	for at, x := range of {
		if at < 0 || at >= slots || !x.valid() {
			return false
		}
	}
	return true
}
