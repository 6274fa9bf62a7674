package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// place maps values of an axis to pixels.
type place struct {
	scale     Scale
	low, high float64 // ends of the axis, in coordinates of the scale
	from, to  float64 // pixels of the ends
	ticks     []float64
}

// on returns the coordinate of a value on the scale; false when it cannot be shown.
func (s Scale) on(v float64) (float64, bool) {
	switch s {
	case Log2, Log10:
		if v <= 0 {
			return 0, false
		}
		v = math.Log10(v)
	case Nines:
		if v < 0 || v >= 1 {
			return 0, false
		}
		v = -math.Log10(1 - v)
	case Linear, Time:
	}
	if math.Abs(v) < 1e-300 { // fractions of it would underflow
		v = 0
	}
	// Above this, sums of values would not be finite.
	return v, math.Abs(v) <= 1e300
}

func (p place) shows(v float64) bool {
	_, ok := p.scale.on(v)
	return ok
}

func (p place) at(v float64) float64 {
	on, _ := p.scale.on(v)
	return p.from + (on-p.low)/(p.high-p.low)*(p.to-p.from)
}

// fit returns the place for values of an axis between two pixels, with its ticks. A
// linear axis with Zero ends at ticks. Other axes end at the lowest and highest value,
// with some room around a single value.
func (a Axis) fit(values []float64, from, to float64) place {
	if a.Room != nil {
		values = append(values, a.Room.From, a.Room.To)
	}
	p := place{scale: a.Scale, low: math.Inf(1), high: math.Inf(-1), from: from, to: to}
	for _, v := range values {
		if on, ok := a.Scale.on(v); ok {
			p.low, p.high = min(p.low, on), max(p.high, on)
		}
	}
	if math.IsInf(p.low, 0) { // nothing can be shown
		p.low, p.high = 0, 1
	}
	if a.Scale == Linear && a.Zero {
		p.low = min(p.low, 0)
		p.high = max(p.high, 0)
	}
	if p.low == p.high {
		room := max(math.Abs(p.high)/2, 0.5)
		if a.Scale != Linear {
			room = 0.3
		}
		p.high += room
		if !a.Zero || p.low != 0 {
			p.low -= room
		}
	}
	most := max(2, int(math.Abs(to-from)/45))
	if from < to { // a horizontal axis: the labels of ticks are wider than high
		most = max(2, int((to-from)/50))
	}
	switch a.Scale {
	case Log2:
		p.ticks = powersOfTwo(p.low, p.high, most)
	case Log10:
		for n := most; n <= 4*most && len(p.ticks) < 2; n++ { // one alone does not show the scale
			p.ticks = decades(p.low, p.high, n)
		}
	case Nines:
		p.low = min(p.low, 0)
		p.ticks = nines(p.high)
	case Time:
		p.ticks = times(p.low, p.high, most)
	case Linear:
		step := niceStep((p.high - p.low) / float64(most))
		if a.Whole {
			step = max(1, step)
		}
		if a.Zero {
			p.low, p.high = math.Floor(p.low/step)*step, math.Ceil(p.high/step-1e-9)*step
		}
		p.ticks = multiples(p.low, p.high, step)
	}
	// The next tick after a value that can be shown may be one that cannot.
	p.ticks = slices.DeleteFunc(p.ticks, func(v float64) bool { return !p.shows(v) })
	return p
}

// align gives a second linear axis from 0 as many ticks as the first one has, so that
// both share a grid.
func (p *place) align(intervals int) {
	if p.scale != Linear || p.low != 0 || intervals < 1 {
		return
	}
	rough := p.high / float64(intervals)
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * unit
	for _, f := range []float64{8, 6, 5, 4, 3, 2.5, 2, 1.5, 1.2, 1} {
		if f*unit >= rough*(1-1e-9) {
			step = f * unit
		}
	}
	p.high = step * float64(intervals)
	p.ticks = multiples(0, p.high, step)
}

// niceStep returns the smallest of 1, 2, 5, 10, … that is not below rough.
func niceStep(rough float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, f := range []float64{1, 2, 5} {
		if f*unit >= rough {
			return f * unit
		}
	}
	return 10 * unit
}

// multiples returns the multiples of step in a range.
func multiples(low, high, step float64) []float64 {
	var all []float64
	first := math.Ceil(low/step - 1e-9)
	for i := 0; i <= 40 && (first+float64(i))*step <= high+step*1e-9; i++ {
		all = append(all, (first+float64(i))*step)
	}
	return all
}

func powersOfTwo(low, high float64, most int) []float64 {
	first, last := math.Ceil(low/math.Log10(2)-1e-9), math.Floor(high/math.Log10(2)+1e-9)
	every := max(1, math.Ceil((last-first+1)/float64(most)))
	var all []float64
	for e := first; e <= last; e += every {
		all = append(all, math.Exp2(e))
	}
	return all
}

// decades returns the powers of ten in a range, and where there is room also their
// multiples by two and five.
func decades(low, high float64, most int) []float64 {
	factors := []float64{1}
	switch span := high - low; {
	case span < 1: // less than from one power of ten to the next
		step := niceStep((math.Pow(10, high) - math.Pow(10, low)) / float64(most))
		return multiples(math.Pow(10, low), math.Pow(10, high), step)
	case 3*span <= float64(most)+2:
		factors = []float64{1, 2, 5}
	}
	every := max(1, math.Ceil((high-low)/float64(most)))
	var all []float64
	for e := math.Floor(low); e <= high; e += every {
		for _, f := range factors {
			if on := e + math.Log10(f); on >= low-1e-9 && on <= high+1e-9 {
				all = append(all, f*math.Pow(10, e))
			}
		}
	}
	return all
}

// nines returns the quantiles 0, 0.5, 0.9, 0.99, … up to a coordinate on the scale.
func nines(high float64) []float64 {
	all := []float64{0}
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999, 0.99999999} {
		if on, _ := Nines.on(q); on <= high+1e-9 {
			all = append(all, q)
		}
	}
	return all
}

// text formats a tick.
func (a Axis) text(v float64) string {
	if a.Format != nil {
		return a.Format(v)
	}
	switch a.Scale {
	case Time:
		return timeText(v)
	case Nines:
		return strconv.FormatFloat(math.Round(v*1e10)/1e8, 'f', -1, 64)
	case Linear, Log2, Log10:
	}
	return Tick(v)
}

// Tick formats a value as in tables, without superfluous digits.
func Tick(v float64) string {
	text := units.Number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
