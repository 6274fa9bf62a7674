package plot

import (
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Small is a plot for a terminal: values evenly spaced along their names.
type Small struct {
	Caption string
	Values  []float64
	Names   []string
}

// Add adds a value and its name.
func (s *Small) Add(value float64, name string) {
	s.Values, s.Names = append(s.Values, value), append(s.Names, name)
}

const (
	smallWidth  = 64 // columns of a plot on a terminal
	smallHeight = 8  // lines
	smallTicks  = 8  // if no number of ticks puts each at a value
	mostTicks   = 12
	// Values beyond these are not rates of a drive, and more than the library can handle.
	leastDrawn, mostDrawn = 1e-6, 1e15
)

// Text draws the values; it is empty when they cannot be drawn.
func (s Small) Text() string {
	n := len(s.Values)
	if n < 3 {
		return ""
	}
	highest := 0.0
	for _, v := range s.Values {
		if math.IsNaN(v) || v < 0 || v > mostDrawn {
			return ""
		}
		highest = max(highest, v)
	}
	if highest < leastDrawn {
		return ""
	}
	// Values and their names lie on whole columns.
	width := max(1, (smallWidth-1)/(n-1))*(n-1) + 1
	if n > smallWidth {
		width = smallWidth
	}
	return strings.TrimRight(asciigraph.Plot(s.Values,
		asciigraph.Height(smallHeight), asciigraph.Width(width), asciigraph.LowerBound(0), asciigraph.UpperBound(smallHeight*round(highest/smallHeight)), asciigraph.Caption(printable.Text(s.Caption)),
		asciigraph.YAxisValueFormatter(units.Number), asciigraph.XAxisRange(0, float64(n-1)), asciigraph.XAxisTickCount(ticksFor(n)),
		asciigraph.XAxisValueFormatter(func(v float64) string {
			return s.Names[min(n-1, max(0, int(math.Round(v))))]
		})), "\n")
}

// round returns the smallest round number that is not below a step between ticks.
func round(step float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(step)))
	for _, digits := range []float64{1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if digits*decade >= step*(1-1e-9) {
			return digits * decade
		}
	}
	return 10 * decade
}

// ticksFor returns the number of ticks for n values: as many as fit with each at a value.
func ticksFor(n int) int {
	for t := min(n, mostTicks); t > 3; t-- {
		if (n-1)%(t-1) == 0 {
			return t
		}
	}
	return min(n, smallTicks)
}

// Bars draws ratios as one line of bars on a logarithmic scale, with a blank for a value
// that is not positive. It returns the range from the lowest to the highest bar.
func Bars(ratios []float64) (bars string, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range ratios {
		if r > 0 {
			low, high = min(low, r), max(high, r)
		}
	}
	// If the range were less than a tenth, noise would fill the whole plot.
	if least := 1.1; high/low < least {
		middle := math.Sqrt(high * low)
		low, high = middle/math.Sqrt(least), middle*math.Sqrt(least)
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	for _, r := range ratios {
		if r > 0 {
			part := math.Log(r/low) / math.Log(high/low)
			bars += string(steps[max(0, min(len(steps)-1, int(part*float64(len(steps)))))])
		} else {
			bars += " "
		}
	}
	return bars, low, high
}
