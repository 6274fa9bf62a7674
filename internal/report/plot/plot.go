package plot

import (
	_ "embed" // the style
	"html/template"
)

// Plot is a diagram with one horizontal axis and one or two vertical ones.
type Plot struct {
	// Title says what is shown, for readers who hear the page.
	Title string
	X, Y  Axis
	// Right is the second vertical axis; nil when there is none.
	Right  *Axis
	Series []Series
	Bands  []Band
	Marks  []Mark
	// Height is that of the area in which values are, in pixels; 0 for 240.
	Height float64
}

// Axis is what values are drawn along.
type Axis struct {
	Label string // name and unit: "latency, µs"
	Scale Scale
	// Room is what the axis shows at least; nil for just the values.
	Room *Room
	// Zero makes a linear axis begin at 0.
	Zero bool
	// Whole puts the ticks of a linear axis at whole numbers alone: devices, rounds.
	Whole bool
	// Format writes a tick; nil for that of tables.
	Format func(float64) string
}

// Room is a range of an axis.
type Room struct{ From, To float64 }

// Scale is how values are spread along an axis.
type Scale int

// The scales.
const (
	Linear Scale = iota
	Log2         // ticks are powers of two
	Log10
	// Nines spreads quantiles (0 to 1) by the logarithm of 1-q: 0.9, 0.99 and 0.999
	// are equally far apart.
	Nines
	// Time is linear. Values are seconds since 1970, ticks are round times in UTC.
	Time
)

// Series is values that belong together.
type Series struct {
	Name   string // for the legend; empty for none
	Points []Point
	Shape  Shape
	// Colour is 1 to Colours, the same for series that belong together.
	Colour int
	Right  bool // drawn along the right axis
	Dashed bool
}

// Colours is how many a series can choose from.
const Colours = 6

// Shape is what is drawn of a series.
type Shape int

// The shapes.
const (
	LinePoints Shape = iota
	Line
	Points
	// Steps draws an area that holds the value of each point up to the next one.
	Steps
)

// Point is one value.
type Point struct {
	X, Y float64
	// Low and High are the ends of an interval around Y; nil when there is none.
	Low, High *float64
	// Note is shown when the reader points at it.
	Note string
	// Doubt draws it hollow: something makes the value less trustworthy.
	Doubt bool
}

// Band is a marked range of the horizontal axis, or of the left one.
type Band struct {
	From, To float64
	Label    string
	Left     bool // of the left axis, without its label
}

// Mark is a line at one value of the horizontal or of the left axis.
type Mark struct {
	X, Y  *float64 // one of them
	Label string
}

//go:embed plot.css
var style string

// Style is the style sheet that diagrams need. It uses the page's custom properties
// --text, --dim, --line, --card and --mark.
func Style() template.CSS { return template.CSS(style) }
