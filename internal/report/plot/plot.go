package plot

import (
	_ "embed" // for the style
	"html/template"
	"time"
)

// Plot is a diagram with one horizontal axis and one or two vertical ones.
type Plot struct {
	// Title says what is shown, for screen readers.
	Title string
	X, Y  Axis
	// Right is the second vertical axis; nil when there is none.
	Right  *Axis
	Series []Series
	Bands  []Band
	Marks  []Mark
	// Height is the height of the area with the values, in pixels; 0 means 240.
	Height float64
}

// Axis describes an axis of a diagram.
type Axis struct {
	Label string // name and unit: "latency, µs"
	Scale Scale
	// Room is a range that the axis always covers; nil for just the values.
	Room *Room
	// Zero makes a linear axis include 0.
	Zero bool
	// Whole puts the ticks of a linear axis at whole numbers only, such as numbers of
	// devices or rounds.
	Whole bool
	// Format formats a tick; nil for the format of tables.
	Format func(float64) string
}

// Room is a range of an axis.
type Room struct{ From, To float64 }

// Scale is how values are distributed along an axis.
type Scale int

// The scales.
const (
	Linear Scale = iota
	Log2         // with ticks at powers of two
	Log10
	// Nines scales quantiles (0 to 1) by the logarithm of 1-q: 0.9, 0.99 and 0.999 are
	// equally far apart.
	Nines
	// Time is linear. Values are seconds since 1970, ticks are round times in UTC.
	Time
)

// Seconds returns the value of a time on an axis, to the millisecond.
func Seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

// Series is a list of values that belong together.
type Series struct {
	Name   string // in the legend; empty for none
	Points []Point
	Shape  Shape
	// Colour is 1 to Colours, the same for series that belong together.
	Colour int
	Right  bool // drawn along the right axis
	Dashed bool
}

// Colours is the number of colours that a series can choose from.
const Colours = 6

// Shape is how a series is drawn.
type Shape int

// The shapes.
const (
	LinePoints Shape = iota
	Line
	Points
	// Steps draws an area that keeps the value of each point up to the next one.
	Steps
)

// Point is one value.
type Point struct {
	X, Y float64
	// Low and High are the ends of an interval around Y; nil when there is none.
	Low, High *float64
	// Note is shown when the reader points at the value.
	Note string
	// Doubt draws the point hollow: something makes the value less trustworthy.
	Doubt bool
}

// Band is a marked range of the horizontal axis, or of the left one.
type Band struct {
	From, To float64
	Label    string
	Left     bool // a range of the left axis, without a label
}

// Mark is a line at one value of the horizontal or of the left axis.
type Mark struct {
	X, Y  *float64 // only one is set
	Label string
}

//go:embed plot.css
var style string

// Style returns the style sheet that diagrams need. It uses the page's custom properties
// --text, --dim, --line, --card and --mark.
func Style() template.CSS { return template.CSS(style) }
