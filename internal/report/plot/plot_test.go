package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// element is an element of a drawing.
type element struct {
	name, text string
	attrs      map[string]string
}

func (e element) has(class string) bool {
	return strings.Contains(" "+e.attrs["class"]+" ", " "+class+" ")
}

// elements parses a drawing. It has to be well-formed, and its coordinates have to be
// numbers.
func elements(t *testing.T, svg template.HTML) []element {
	t.Helper()
	var all []element
	var open []int
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			require.Empty(t, open)
			return all
		}
		require.NoError(t, err, svg)
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			for _, name := range []string{"d", "x", "y", "width", "height", "viewBox", "transform"} {
				require.NotRegexp(t, `NaN|Inf|e\+`, e.attrs[name])
			}
			open, all = append(open, len(all)), append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			all[open[len(open)-1]].text += string(token)
		}
	}
}

func pick(all []element, name, class string) []element {
	var found []element
	for _, e := range all {
		if e.name == name && (class == "" || e.has(class)) {
			found = append(found, e)
		}
	}
	return found
}

func texts(all []element, class string) []string {
	var found []string
	for _, e := range pick(all, "text", class) {
		found = append(found, e.text)
	}
	return found
}

// vertices returns the points of a path of straight lines.
func vertices(t *testing.T, d string) [][2]float64 {
	t.Helper()
	var all [][2]float64
	for _, m := range regexp.MustCompile(`[ML]([-0-9.]+) ([-0-9.]+)`).FindAllStringSubmatch(d, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		all = append(all, [2]float64{x, y})
	}
	return all
}

func points(xy ...float64) []plot.Point {
	var all []plot.Point
	for i := 0; i < len(xy); i += 2 {
		all = append(all, plot.Point{X: xy[i], Y: xy[i+1], Note: fmt.Sprintf("at %g", xy[i])})
	}
	return all
}

// sweep returns a plot with two axes, a knee and a doubtful point.
func sweep() plot.Plot {
	iops := points(1, 10_000, 2, 20_000, 4, 40_000, 8, 50_000)
	iops[2].Doubt = true
	return plot.Plot{
		Title: "IOPS over depth", X: plot.Axis{Label: "depth", Scale: plot.Log2}, Y: plot.Axis{Label: "IOPS", Zero: true},
		Right: &plot.Axis{Label: "latency, µs", Zero: true},
		Series: []plot.Series{
			{Name: "IOPS", Points: iops, Colour: 1},
			{Name: "mean", Points: points(1, 100, 2, 100, 4, 100, 8, 160), Colour: 2, Right: true, Dashed: true},
		},
		Marks: []plot.Mark{{X: new(4.0), Label: "knee"}},
	}
}

func TestPlotHoldsItsPoints(t *testing.T) {
	all := elements(t, sweep().SVG())
	assert.Len(t, pick(all, "path", "point"), 8)
	assert.Len(t, pick(all, "path", "doubt"), 1)
	assert.Equal(t, []string{"IOPS", "mean"}, texts(all, "legend"))
	assert.ElementsMatch(t, []string{"depth", "IOPS", "latency, µs"}, texts(all, "axislabel"))
	assert.Equal(t, []string{"knee"}, texts(all, "marklabel"))
	assert.Subset(t, texts(all, "tick"), []string{"0", "10 000", "50 000", "1", "2", "4", "8", "200"})
	assert.Len(t, pick(all, "title", ""), 8, "a note for each point")

	lines := pick(all, "path", "line")
	var paths [][][2]float64
	for _, e := range lines {
		if v := vertices(t, e.attrs["d"]); len(v) == 4 {
			paths = append(paths, v)
		}
	}
	require.Len(t, paths, 2)
	iops, mean := paths[0], paths[1]
	// Doubled depths are evenly spaced, and twice the IOPS are twice as high.
	assert.InDelta(t, iops[1][0]-iops[0][0], iops[3][0]-iops[2][0], 0.11)
	bottom := iops[0][1] + (iops[0][1]-iops[1][1])*1 // 10 000 is as far from 0 as from 20 000
	assert.InDelta(t, bottom-iops[2][1], 4*(bottom-iops[0][1]), 0.5)
	assert.Equal(t, mean[0][1], mean[2][1])
	assert.Less(t, mean[3][1], mean[2][1], "higher values stand higher")
	knee := vertices(t, pick(all, "path", "mark")[0].attrs["d"])
	assert.Equal(t, iops[2][0], knee[0][0], "the knee stands at its depth")
}

func TestStripsHoldTheirValues(t *testing.T) {
	s := plot.Strips{
		Title: "repeats", X: plot.Axis{Label: "deviation, %", Room: &plot.Room{From: -5, To: 5}},
		Mark: &plot.Mark{X: new(0.0), Label: "mean"},
		Rows: []plot.Row{
			{Label: "one", Values: points(-1, 0, 0, 0, 1, 0), Low: new(-0.5), Mean: new(0.0), High: new(0.5), Colour: 1},
			{Label: "two", Values: points(2, 0), Colour: 2},
		},
	}
	all := elements(t, s.SVG())
	assert.Len(t, pick(all, "path", "point"), 4)
	assert.Len(t, pick(all, "rect", "interval"), 1)
	assert.Len(t, pick(all, "path", "mean"), 1)
	assert.Equal(t, []string{"one", "two"}, texts(all, "rowlabel"))
	assert.Subset(t, texts(all, "tick"), []string{"-5", "0", "5"})
	assert.Zero(t, s.LeftOut())

	for range 100 {
		s.Rows = append(s.Rows, plot.Row{Label: "more", Values: points(0, 0)})
	}
	all = elements(t, s.SVG())
	assert.Len(t, texts(all, "rowlabel"), 60)
	assert.Equal(t, 42, s.LeftOut())
}

func TestNinesAreEvenlySpaced(t *testing.T) {
	p := plot.Plot{
		X: plot.Axis{Scale: plot.Nines}, Y: plot.Axis{Scale: plot.Log10},
		Series: []plot.Series{{Shape: plot.Line, Points: points(0, 1, 0.9, 10, 0.99, 100, 0.999, 1000)}},
	}
	all := elements(t, p.SVG())
	v := vertices(t, pick(all, "path", "line")[0].attrs["d"])
	require.Len(t, v, 4)
	for i := 1; i < 3; i++ {
		assert.InDelta(t, v[i][0]-v[i-1][0], v[i+1][0]-v[i][0], 0.11)
		assert.InDelta(t, v[i][1]-v[i-1][1], v[i+1][1]-v[i][1], 0.11)
	}
	assert.Subset(t, texts(all, "tick"), []string{"0", "50", "90", "99", "99.9", "1", "10", "100", "1 000"})
}

func TestStepsAreClosedAreas(t *testing.T) {
	p := plot.Plot{Y: plot.Axis{Zero: true}, Series: []plot.Series{{Name: "a", Shape: plot.Steps, Points: points(1, 5, 2, 7, 3, 0)}}}
	all := elements(t, p.SVG())
	var outline string
	for _, e := range pick(all, "path", "area") {
		outline = e.attrs["d"]
	}
	assert.Equal(t, 2, strings.Count(outline, "H")-1, "a step for each class, and the way back")
	assert.True(t, strings.HasSuffix(outline, "Z"))
	assert.Empty(t, pick(all, "path", "point"))
}

func TestWhatAnAxisCannotShowIsLeftOut(t *testing.T) {
	p := plot.Plot{
		X: plot.Axis{Scale: plot.Log2}, Y: plot.Axis{Scale: plot.Log10},
		Series: []plot.Series{{Points: points(0, 1, 1, 0, math.NaN(), 1, 1, math.Inf(1), -1, 1, 2, 3, 4, 5)}},
	}
	assert.Len(t, pick(elements(t, p.SVG()), "path", "point"), 2)
	p.Series[0].Points = points(0, 0)
	assert.Empty(t, pick(elements(t, p.SVG()), "path", "point"))
}

func TestTicksAtWholeNumbers(t *testing.T) {
	p := plot.Plot{X: plot.Axis{Whole: true}, Y: plot.Axis{Zero: true}, Series: []plot.Series{{Points: points(1, 10, 2, 20)}}}
	assert.Subset(t, texts(elements(t, p.SVG()), "tick"), []string{"1", "2"})
	assert.NotContains(t, texts(elements(t, p.SVG()), "tick"), "1.5")
	p.X.Whole = false
	assert.Contains(t, texts(elements(t, p.SVG()), "tick"), "1.5")
}

// One tick on an axis says nothing about the size of what is drawn.
func TestALogarithmicAxisHasTwoTicks(t *testing.T) {
	for _, height := range []float64{90, 120, 150} {
		for _, y := range []float64{1.1, 1.39, 2.4, 9.1, 12, 40, 300, 560, 2500} {
			p := plot.Plot{Y: plot.Axis{Scale: plot.Log10}, Height: height, Series: []plot.Series{{Points: points(0, 0.97, 1, y)}}}
			ticks := strings.Count(string(p.SVG()), `text-anchor="end"`)
			assert.GreaterOrEqual(t, ticks, 2, "%v in %v", y, height)
			assert.LessOrEqual(t, ticks, 8, "%v in %v", y, height)
		}
	}
}

func TestManyPointsStayFewAndKeepTheirOutliers(t *testing.T) {
	testenv.Long(t)
	s := plot.Series{Shape: plot.Line}
	for i := range 1_000_000 {
		s.Points = append(s.Points, plot.Point{X: float64(i), Y: 100})
	}
	s.Points[654_321].Y = 5
	svg := plot.Plot{Series: []plot.Series{s}, Y: plot.Axis{Zero: true}}.SVG()
	assert.Less(t, len(svg), 40_000)
	v := vertices(t, pick(elements(t, svg), "path", "line")[0].attrs["d"])
	lowest := v[0][1]
	for _, p := range v {
		lowest = max(lowest, p[1])
	}
	assert.Greater(t, lowest, v[0][1]+200)
}

func TestBandsCoverTheirRange(t *testing.T) {
	p := plot.Plot{
		Series: []plot.Series{{Points: points(1, 1, 2, 1, 3, 1, 4, 1, 5, 1)}},
		Bands:  []plot.Band{{From: 2, To: 4, Label: "window"}},
		Marks:  []plot.Mark{{Y: new(1.0), Label: "mean"}},
	}
	all := elements(t, p.SVG())
	v := vertices(t, pick(all, "path", "line")[0].attrs["d"])
	band := pick(all, "rect", "band")[0].attrs
	x, err := strconv.ParseFloat(band["x"], 64)
	require.NoError(t, err)
	width, err := strconv.ParseFloat(band["width"], 64)
	require.NoError(t, err)
	assert.InDelta(t, v[1][0], x, 0.1)
	assert.InDelta(t, v[3][0]-v[1][0], width, 0.2)
	assert.ElementsMatch(t, []string{"window", "mean"}, texts(all, "marklabel"))
}

func TestHostileTextIsText(t *testing.T) {
	const hostile = `</svg><script>alert(1)</script>"'&` + "\x00"
	p := sweep()
	p.Title, p.X.Label, p.Y.Label, p.Right.Label = hostile, hostile, hostile, hostile
	p.Series[0].Name, p.Series[0].Points[0].Note, p.Marks[0].Label = hostile, hostile, hostile
	p.Bands = []plot.Band{{From: 1, To: 2, Label: hostile}}
	p.Y.Format = func(float64) string { return hostile }
	s := plot.Strips{Title: hostile, X: p.X, Rows: []plot.Row{{Label: hostile, Values: points(1, 1)}}}
	for _, svg := range []template.HTML{p.SVG(), s.SVG()} {
		assert.NotContains(t, svg, "<script")
		assert.Equal(t, 1, strings.Count(string(svg), "</svg>"))
		assert.NotContains(t, svg, "\x00")
	}
}

func TestStyleKnowsEveryColour(t *testing.T) {
	for c := 1; c <= plot.Colours; c++ {
		assert.Equal(t, 3, strings.Count(string(plot.Style()), fmt.Sprintf("--c%d:", c)), "light, dark and printed")
		assert.Contains(t, plot.Style(), fmt.Sprintf(".plot .c%d {", c))
	}
}

// For any values, the drawing is well-formed and has finite coordinates.
func FuzzPlot(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 0, 0)
	f.Add(0.0, 0.0, 0.0, 0.0, 1, 2)
	f.Add(-1e308, 1e308, 5e-324, math.Inf(1), 2, 3)
	f.Add(0.9999999999999999, 1.0, math.NaN(), math.Copysign(0, -1), 3, 1)
	f.Fuzz(func(t *testing.T, a, b, c, d float64, x, y int) {
		scale := func(n int) plot.Scale { return plot.Scale((n%4 + 4) % 4) }
		p := plot.Plot{
			X: plot.Axis{Scale: scale(x), Zero: y%2 == 0}, Y: plot.Axis{Scale: scale(y), Zero: x%2 == 0},
			Right:  &plot.Axis{Zero: true},
			Series: []plot.Series{{Points: points(a, b, c, d)}, {Points: points(b, a, d, c), Right: true, Shape: plot.Steps}},
			Marks:  []plot.Mark{{X: &a}, {Y: &d}},
			Bands:  []plot.Band{{From: b, To: c}},
		}
		elements(t, p.SVG())
		elements(t, plot.Strips{X: p.X, Rows: []plot.Row{{Values: points(a, 0, b, 0), Low: &c, Mean: &a, High: &d}}, Mark: &p.Marks[0]}.SVG())
	})
}

func TestLabelsOfMarksThatAreCloseAreJoined(t *testing.T) {
	p := plot.Plot{
		X: plot.Axis{Room: &plot.Room{From: 0, To: 100}}, Y: plot.Axis{Room: &plot.Room{From: 0, To: 1}},
		Marks: []plot.Mark{{X: new(10.0), Label: "onset"}, {X: new(90.0), Label: "firmware changed"}, {X: new(91.0), Label: "kernel changed"}},
	}
	var shown []string
	for _, text := range texts(elements(t, p.SVG()), "marklabel") {
		if text != "" {
			shown = append(shown, text)
		}
	}
	assert.Equal(t, []string{"onset", "firmware changed, kernel changed"}, shown)
}

// A phone gets its own drawing, because a wide one that is scaled down cannot be read.
func TestANarrowDrawingIsTheSameInLessRoom(t *testing.T) {
	p := plot.Plot{
		X: plot.Axis{Label: "UTC", Scale: plot.Time, Room: &plot.Room{From: 0, To: 86400}}, Y: plot.Axis{Zero: true},
		Right:  &plot.Axis{Label: "p99", Zero: true},
		Series: []plot.Series{{Name: "p50", Points: []plot.Point{{X: 100, Y: 1}, {X: 80000, Y: 2}}}, {Name: "p99", Right: true, Points: []plot.Point{{X: 100, Y: 9}}}},
		Marks:  []plot.Mark{{X: new(40000.0), Label: "onset"}},
	}
	strips := plot.Strips{X: plot.Axis{Zero: true}, Rows: []plot.Row{{Label: "read", Values: []plot.Point{{X: 1}, {X: 2}}}}}
	for name, drawing := range map[string]struct{ wide, narrow template.HTML }{
		"plot": {p.SVG(), p.Narrow()}, "strips": {strips.SVG(), strips.Narrow()},
	} {
		wide, narrow := elements(t, drawing.wide), elements(t, drawing.narrow)
		assert.False(t, wide[0].has("narrow"), name)
		assert.True(t, narrow[0].has("narrow"), name)
		assert.Regexp(t, "^0 0 360 ", narrow[0].attrs["viewBox"], name)
		assert.Len(t, pick(narrow, "path", "point"), len(pick(wide, "path", "point")), name)
		assert.Less(t, len(texts(narrow, "tick")), len(texts(wide, "tick"))+1, name)
		for _, e := range pick(narrow, "text", "") {
			if x := e.attrs["x"]; x != "" {
				at, err := strconv.ParseFloat(x, 64)
				require.NoError(t, err)
				assert.LessOrEqual(t, at, 360.0, name)
			}
		}
	}
}
