package plot

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
)

// Sizes of the drawing in pixels, which a page may scale.
const (
	width      = 760.0 // for a screen
	narrow     = 360.0 // for a phone
	plotHeight = 240.0 // of the area with the values, unless Height is set
	rowHeight  = 18.0  // per row of the legend
	below      = 44.0  // for ticks and label of the horizontal axis
)

// frame is the area in which values are drawn, with the places along its axes.
type frame struct {
	left, top, right, bottom float64
	width                    float64 // of the whole drawing
	x, y, second             place
}

// SVG draws the diagram for the width of a screen.
func (p Plot) SVG() template.HTML { return p.draw(width) }

// Narrow draws it for the width of a phone. A page holds both drawings; Style shows the
// one that fits.
func (p Plot) Narrow() template.HTML { return p.draw(narrow) }

func (p Plot) draw(width float64) template.HTML {
	rows := p.legendRows(width)
	top := 12 + rowHeight*float64(len(rows))
	if p.labelled() {
		top += 16
	}
	f := p.frame(top, width)
	svg := canvas(p.Title, width, f.bottom+below)
	drawLegend(svg, rows)
	p.drawBands(svg, f)
	p.drawAxes(svg, f)
	for _, s := range p.Series {
		y := f.y
		if s.Right && p.Right != nil {
			y = f.second
		}
		s.shown(p.X.Scale, y.scale).draw(svg, f, y)
	}
	p.drawMarks(svg, f) // over the series, so that labels stay readable
	return svg.html()
}

// labelled reports whether there are labels above the area.
func (p Plot) labelled() bool {
	if slices.ContainsFunc(p.Bands, func(b Band) bool { return !b.Left }) {
		return true
	}
	for _, m := range p.Marks {
		if m.X != nil {
			return true
		}
	}
	return false
}

// values returns all values that each axis has to show.
func (p Plot) values() (x, left, right []float64) {
	for _, s := range p.Series {
		y := p.Y.Scale
		if s.Right && p.Right != nil {
			y = p.Right.Scale
		}
		for _, v := range s.shown(p.X.Scale, y).Points {
			x = append(x, v.X)
			at := append([]float64{v.Y}, v.ends(y)...)
			if s.Right && p.Right != nil {
				right = append(right, at...)
			} else {
				left = append(left, at...)
			}
		}
	}
	for _, b := range p.Bands {
		if b.Left {
			left = append(left, b.From, b.To)
		} else {
			x = append(x, b.From, b.To)
		}
	}
	for _, m := range p.Marks {
		if m.X != nil {
			x = append(x, *m.X)
		}
		if m.Y != nil {
			left = append(left, *m.Y)
		}
	}
	return x, left, right
}

func (p Plot) frame(top, width float64) frame {
	x, left, right := p.values()
	f := frame{top: top, bottom: top + cmp.Or(p.Height, plotHeight), left: 28, right: width - 14, width: width}
	f.y = p.Y.fit(left, f.bottom, f.top)
	f.left += widest(p.Y, f.y.ticks)
	if p.Right != nil {
		f.second = p.Right.fit(right, f.bottom, f.top)
		if p.Y.Scale == Linear && p.Y.Zero && p.Right.Zero {
			f.second.align(len(f.y.ticks) - 1)
		}
		f.right -= 14 + widest(*p.Right, f.second.ticks)
	}
	f.x = p.X.fit(x, f.left, f.right)
	return f
}

func widest(a Axis, ticks []float64) float64 {
	most := 0.0
	for _, v := range ticks {
		most = max(most, textWidth(a.text(v)))
	}
	return most + 8
}

func (p Plot) drawBands(svg *node, f frame) {
	for _, b := range p.Bands {
		if b.Left {
			if f.y.shows(b.From) && f.y.shows(b.To) {
				high := f.y.at(b.To)
				svg.rect(f.left, high, f.right-f.left, max(1, f.y.at(b.From)-high), "band").note(b.Label)
			}
			continue
		}
		if !f.x.shows(b.From) || !f.x.shows(b.To) {
			continue
		}
		from, to := f.x.at(b.From), f.x.at(b.To)
		svg.rect(from, f.top, max(1, to-from), f.bottom-f.top, "band").note(b.Label)
		label := cut(b.Label, f.right-f.left)
		middle := (from + to) / 2
		half := textWidth(label) / 2
		svg.label(min(max(middle, f.left+half), f.right-half), f.top-5, "middle", "marklabel", label)
	}
}

func (p Plot) drawAxes(svg *node, f frame) {
	for _, v := range f.y.ticks {
		y := f.y.at(v)
		svg.line(f.left, y, f.right, y, "grid")
		svg.label(f.left-6, y+4, "end", "tick", p.Y.text(v))
	}
	if p.Right != nil {
		for _, v := range f.second.ticks {
			y := f.second.at(v)
			svg.line(f.right, y, f.right+4, y, "axis")
			svg.label(f.right+7, y+4, "start", "tick", p.Right.text(v))
		}
		svg.line(f.right, f.top, f.right, f.bottom, "axis")
		turned(svg, f.width-6, (f.top+f.bottom)/2, p.Right.Label)
	}
	drawX(svg, p.X, f)
	svg.line(f.left, f.top, f.left, f.bottom, "axis")
	turned(svg, 12, (f.top+f.bottom)/2, p.Y.Label)
}

// drawX draws the horizontal axis. Ticks whose texts would overlap have none.
func drawX(svg *node, a Axis, f frame) {
	free := -1.0
	for _, v := range f.x.ticks {
		x := f.x.at(v)
		svg.line(x, f.bottom, x, f.bottom+4, "axis")
		if half := textWidth(a.text(v)) / 2; x-half > free {
			svg.label(min(x, f.width-half), f.bottom+17, "middle", "tick", a.text(v))
			free = x + half + 4
		}
	}
	svg.line(f.left, f.bottom, f.right, f.bottom, "axis")
	svg.label((f.left+f.right)/2, f.bottom+35, "middle", "axislabel", a.Label)
}

func turned(svg *node, x, y float64, label string) {
	t := svg.label(0, 0, "middle", "axislabel", label)
	t.attrs = append(t.attrs, "transform", "translate("+px(x)+" "+px(y)+") rotate(-90)")
}

func (p Plot) drawMarks(svg *node, f frame) {
	var last *node // the previous label
	ends := 0.0
	for _, m := range p.Marks {
		switch {
		case m.X != nil && f.x.shows(*m.X):
			x := f.x.at(*m.X)
			svg.line(x, f.top-2, x, f.bottom, "mark")
			label := cut(m.Label, f.right-f.left)
			half := textWidth(label) / 2
			if last != nil && x-half < ends { // they would overlap: one label for both
				label = cut(last.text+", "+m.Label, f.right-f.left)
				half = textWidth(label) / 2
				last.text = ""
			}
			at := min(max(x, f.left+half), f.right-half)
			last, ends = svg.label(at, f.top-5, "middle", "marklabel", label), at+half+4
		case m.Y != nil && f.y.shows(*m.Y):
			y := f.y.at(*m.Y)
			svg.line(f.left, y, f.right, y, "mark")
			below := y + 16
			if below > f.bottom-4 {
				below = y - 6
			}
			svg.label(f.right-4, below, "end", "marklabel", m.Label)
		}
	}
}

// draw draws the line or the area and then the points over it.
func (s Series) draw(svg *node, f frame, y place) {
	if len(s.Points) == 0 {
		return
	}
	colour := colourClass(s.Colour)
	line := "line " + colour
	if s.Dashed {
		line += " dashed"
	}
	if s.Shape == Steps { // the area below the outline
		svg.add("path", "class", "area "+colour, "d", s.path(f, y)+"V"+px(f.bottom)+"H"+px(f.x.at(s.Points[0].X))+"Z")
	}
	if s.Shape != Points {
		svg.add("path", "class", line, "d", s.path(f, y))
	}
	if s.Shape == LinePoints && len(s.Points) <= mostPoints || s.Shape == Points {
		for _, p := range s.Points {
			if ends := p.ends(y.scale); ends != nil {
				x, low, high := f.x.at(p.X), y.at(ends[0]), y.at(ends[1])
				svg.add("path", "class", "whisker "+colour, "d", "M"+px(x-3)+" "+px(low)+"H"+px(x+3)+"M"+px(x)+" "+px(low)+"V"+px(high)+"M"+px(x-3)+" "+px(high)+"H"+px(x+3))
			}
			class := "point " + colour
			if p.Doubt {
				class += " doubt"
			}
			svg.add("path", "class", class, "d", marker(s.Colour, f.x.at(p.X), y.at(p.Y))).note(p.Note)
		}
	}
}

// ends returns the ends of the interval if the scale can show them, else nil.
func (p Point) ends(s Scale) []float64 {
	if p.Low == nil || p.High == nil {
		return nil
	}
	_, okLow := s.on(*p.Low)
	_, okHigh := s.on(*p.High)
	if !okLow || !okHigh {
		return nil
	}
	return []float64{*p.Low, *p.High}
}

func (s Series) path(f frame, y place) string {
	var b strings.Builder
	for i, p := range s.Points {
		at := px(f.x.at(p.X)) + " " + px(y.at(p.Y))
		switch {
		case i == 0 && s.Shape == Steps:
			b.WriteString("M" + px(f.x.at(p.X)) + " " + px(f.bottom) + "L" + at)
		case i == 0:
			b.WriteString("M" + at)
		case s.Shape == Steps:
			b.WriteString("H" + px(f.x.at(p.X)) + "V" + px(y.at(p.Y)))
		default:
			b.WriteString("L" + at)
		}
	}
	return b.String()
}
