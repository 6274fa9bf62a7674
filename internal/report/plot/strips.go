package plot

import "html/template"

// Strips are rows of values along one axis.
type Strips struct {
	// Title says what is shown, for screen readers.
	Title string
	X     Axis
	Rows  []Row
	// Mark is a line across all rows; nil for none.
	Mark *Mark
}

// Row is one load or one change.
type Row struct {
	Label  string
	Values []Point // only X is drawn
	// Low, Mean and High are an interval and its middle; nil when not known.
	Low, Mean, High *float64
	Colour          int
}

// mostRows is the largest number of rows in a drawing; the table beside it has all of
// them.
const mostRows = 60

// LeftOut returns how many rows do not fit into the drawing.
func (s Strips) LeftOut() int { return max(0, len(s.Rows)-mostRows) }

// SVG draws the rows for the width of a screen.
func (s Strips) SVG() template.HTML { return s.draw(width) }

// Narrow draws them for the width of a phone, like Plot.Narrow.
func (s Strips) Narrow() template.HTML { return s.draw(narrow) }

func (s Strips) draw(width float64) template.HTML {
	const each = 40.0
	rows := s.Rows[:min(len(s.Rows), mostRows)]
	f := frame{left: 14, right: width - 14, top: 8, width: width}
	if s.Mark != nil {
		f.top += 14
	}
	f.bottom = f.top + each*float64(len(rows))
	f.x = s.X.fit(s.values(rows), f.left+20, f.right-20)
	svg := canvas(s.Title, width, f.bottom+below)
	for _, v := range f.x.ticks {
		svg.line(f.x.at(v), f.top, f.x.at(v), f.bottom, "grid")
	}
	drawX(svg, s.X, f)
	if s.Mark != nil && s.Mark.X != nil && f.x.shows(*s.Mark.X) {
		x := f.x.at(*s.Mark.X)
		svg.line(x, f.top, x, f.bottom, "mark")
		svg.label(x, f.top-5, "middle", "marklabel", s.Mark.Label)
	}
	for i, r := range rows {
		r.draw(svg, f, f.top+each*float64(i))
	}
	return svg.html()
}

func (s Strips) values(rows []Row) []float64 {
	var all []float64
	if s.Mark != nil && s.Mark.X != nil {
		all = append(all, *s.Mark.X)
	}
	for _, r := range rows {
		for _, v := range r.Values {
			all = append(all, v.X)
		}
		for _, v := range []*float64{r.Low, r.Mean, r.High} {
			if v != nil {
				all = append(all, *v)
			}
		}
	}
	return all
}

func (r Row) draw(svg *node, f frame, top float64) {
	colour := colourClass(r.Colour)
	y := top + 28
	svg.label(f.left+2, top+14, "start", "rowlabel", cut(r.Label, f.right-f.left))
	shows := func(v *float64) bool { return v != nil && f.x.shows(*v) }
	if shows(r.Low) && shows(r.High) {
		low, high := f.x.at(*r.Low), f.x.at(*r.High)
		svg.rect(low, y-5, max(1, high-low), 10, "interval "+colour)
	}
	if shows(r.Mean) {
		svg.line(f.x.at(*r.Mean), y-8, f.x.at(*r.Mean), y+8, "mean "+colour)
	}
	for _, v := range (Series{Points: r.Values}).shown(f.x.scale, Linear).Points {
		class := "point " + colour
		if v.Doubt {
			class += " doubt"
		}
		svg.add("path", "class", class, "d", marker(r.Colour, f.x.at(v.X), y)).note(v.Note)
	}
}
