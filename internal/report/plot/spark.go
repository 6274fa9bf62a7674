package plot

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Spark is a line without axes, as high as a line of text.
type Spark struct {
	// Title says what is shown, for screen readers.
	Title string
	// From and To are the ends of the horizontal axis.
	From, To float64
	Points   []Point // in order
	// Gap is the distance along the horizontal axis beyond which neighbouring points are not joined.
	Gap float64
}

// Sizes of the drawing of a Spark in pixels.
const sparkWidth, sparkHeight = 120.0, 24.0

// sparkLeast keeps noise from filling the drawing: the range shown extends at least from the median
// divided by it to the median times it.
const sparkLeast = 1.25

// SVG draws the line; it is empty without points.
func (s Spark) SVG() template.HTML {
	if len(s.Points) == 0 || s.To <= s.From {
		return ""
	}
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = p.Y
	}
	slices.Sort(values)
	median := values[len(values)/2]
	low, high := min(values[0], median/sparkLeast), max(values[len(values)-1], median*sparkLeast)
	if high <= low {
		high = low + 1
	}
	var d strings.Builder
	for i, p := range s.Points {
		x := 1 + (p.X-s.From)/(s.To-s.From)*(sparkWidth-2)
		y := sparkHeight - 2 - (p.Y-low)/(high-low)*(sparkHeight-4)
		apart := i == 0 || p.X-s.Points[i-1].X > s.Gap
		if apart {
			d.WriteString("M" + px(x) + " " + px(y) + "h0") // visible even as a single point
			continue
		}
		d.WriteString("L" + px(x) + " " + px(y))
	}
	svg := &node{name: "svg", attrs: []string{
		"class", "plot spark", "viewBox", fmt.Sprintf("0 0 %s %s", px(sparkWidth), px(sparkHeight)), "role", "img", "aria-label", s.Title,
	}}
	svg.add("path", "class", "line c1", "d", d.String())
	return svg.html()
}
