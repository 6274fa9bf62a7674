package report

import (
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	smallWidth  = 64 // columns of a plot on a terminal
	smallHeight = 8  // lines
	smallTicks  = 8  // where no number of ticks meets values alone
	mostTicks   = 12
	// What is beyond these is no rate of a drive, and more than the library counts with.
	leastDrawn, mostDrawn = 1e-6, 1e15
)

// terminal draws values for a terminal, evenly spaced along names. It is empty when
// they cannot be drawn.
func terminal(caption string, values []float64, names []string) string {
	if len(values) < 3 {
		return ""
	}
	highest := 0.0
	for _, v := range values {
		if math.IsNaN(v) || v < 0 || v > mostDrawn {
			return ""
		}
		highest = max(highest, v)
	}
	if highest < leastDrawn {
		return ""
	}
	// Values lie on whole columns, and so do their names.
	between := max(1, (smallWidth-1)/(len(values)-1))
	options := []asciigraph.Option{
		asciigraph.Height(smallHeight), asciigraph.LowerBound(0), asciigraph.Caption(clean(caption)),
		asciigraph.YAxisValueFormatter(units.Number), asciigraph.XAxisRange(0, float64(len(values)-1)),
		asciigraph.XAxisTickCount(ticksFor(len(values))),
		asciigraph.XAxisValueFormatter(func(v float64) string {
			return names[min(len(names)-1, max(0, int(math.Round(v))))]
		}),
	}
	width := between*(len(values)-1) + 1
	if len(values) > smallWidth {
		width = smallWidth
	}
	options = append(options, asciigraph.Width(width))
	return strings.TrimRight(asciigraph.Plot(values, options...), "\n")
}

// ticksFor is how many ticks n values get: as many as fit so that each is at a value.
func ticksFor(n int) int {
	for t := min(n, mostTicks); t > 3; t-- {
		if (n-1)%(t-1) == 0 {
			return t
		}
	}
	return min(n, smallTicks)
}

// tick writes a value of an axis: as in tables, without superfluous digits.
func tick(v float64) string {
	text := units.Number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
