// Package plot draws diagrams as SVG for pages that need neither a network nor scripts:
// lines over an axis, and rows of values along one.
//
// It owns axes, ticks and the layout of a diagram. Colours are classes, given by Style,
// so that a page can show the same diagram light, dark and printed. The package knows
// nothing of drives: values come with their labels, and each axis names its unit. Series
// also differ by the shape of their points, for readers who cannot tell the colours
// apart. Every text is escaped. A value that an axis cannot show, such as a zero on a
// logarithmic one, is left out. The size of a drawing is bounded, however many points a
// series has.
//
// None of Go's plotting libraries has a second vertical axis, an axis of percentiles and
// colours that follow the page. The closest one adds a quarter to the size of the
// program, for fonts and PDF that are not needed.
//
//	p := plot.Plot{
//		Title:  "IOPS over depth",
//		X:      plot.Axis{Label: "queue depth", Scale: plot.Log2},
//		Y:      plot.Axis{Label: "IOPS"},
//		Series: []plot.Series{{Name: "IOPS", Points: points}},
//	}
//	html := p.SVG()
package plot
