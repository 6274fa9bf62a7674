// Package plot draws diagrams as SVG for pages that need neither a network nor
// scripts: lines over an axis, and rows of values on one.
//
// It owns axes, ticks and how a diagram is laid out; colours are classes, given by
// Style, so that a page shows the same diagram light, dark and printed. It knows
// nothing of drives: values come with their labels, and each axis names its unit.
// Series differ by the form of their points too, for readers who do not tell
// colours apart. Every text is escaped; a value that an axis cannot show, such as a
// zero on a logarithmic one, is left out. However many points a series has, what is
// drawn of it is bounded.
//
// The plotting libraries of Go were looked at. None of them has a second vertical
// axis, an axis of percentiles and colours that follow the page, and the closest one
// adds a quarter to the program, for fonts and PDF that nobody asked of it.
//
//	p := plot.Plot{
//		Title:  "IOPS over depth",
//		X:      plot.Axis{Label: "queue depth", Scale: plot.Log2},
//		Y:      plot.Axis{Label: "IOPS"},
//		Series: []plot.Series{{Name: "IOPS", Points: points}},
//	}
//	html := p.SVG()
package plot
