package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func page(t *testing.T, documents ...report.Document) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.HTML(&b, documents...))
	return b.String()
}

func pageOf(t *testing.T, r record.RunReport) string {
	t.Helper()
	return page(t, report.NewDocument(r, nil))
}

func parsed(t *testing.T, text string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return n
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// all returns the elements of a name below n, with a class if one is given.
func all(n *html.Node, name, class string) []*html.Node {
	var found []*html.Node
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == name && (class == "" || slices.Contains(strings.Fields(attribute(c, "class")), class)) {
			found = append(found, c)
		}
	}
	return found
}

func words(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// outline returns the structure of a page: headings, sentences, the content of each plot,
// and the headings of tables.
func outline(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type != html.ElementNode {
			continue
		}
		class := attribute(c, "class")
		switch {
		case c.Data == "h1" || c.Data == "h2" || c.Data == "h3":
			fmt.Fprintf(&b, "%s %s\n", c.Data, words(c))
		case c.Data == "p" && !strings.HasPrefix(class, "found"):
			fmt.Fprintf(&b, "  p %s\n", words(c))
		case c.Data == "p":
			fmt.Fprintf(&b, "  ⚠ %s\n", words(c))
		case c.Data == "li":
			fmt.Fprintf(&b, "  - %s\n", words(c))
		case c.Data == "div" && c.Parent.Data == "dl":
			fmt.Fprintf(&b, "  %s\n", words(c))
		case c.Data == "svg":
			fmt.Fprintf(&b, "  svg %q: %d points, %d lines, %d areas, %d intervals; axes", attribute(c, "aria-label"),
				len(all(c, "path", "point")), len(all(c, "path", "line")), len(all(c, "path", "area")), len(all(c, "rect", "interval")))
			for _, label := range all(c, "text", "axislabel") {
				fmt.Fprintf(&b, " [%s]", words(label))
			}
			for _, label := range all(c, "text", "marklabel") {
				fmt.Fprintf(&b, " mark [%s]", words(label))
			}
			b.WriteString("\n")
		case c.Data == "figcaption":
			fmt.Fprintf(&b, "  caption %s\n", words(c))
		case c.Data == "table":
			fmt.Fprintf(&b, "  table of %d rows:", len(all(c, "tr", "")))
			for _, head := range all(c, "th", "") {
				if attribute(head, "scope") == "col" {
					fmt.Fprintf(&b, " [%s]", words(head))
				}
			}
			b.WriteString("\n")
		case c.Data == "details":
			fmt.Fprintf(&b, "  details %s\n", words(all(c, "summary", "")[0]))
		}
	}
	return b.String()
}

func TestHTMLOutline(t *testing.T) {
	for name, r := range suiteRuns() {
		t.Run(name, func(t *testing.T) { golden(t, "html_"+name+".outline", outline(parsed(t, pageOf(t, r)))) })
	}
	c := compare.Pair(beforeUpdate(0.4), quickRun(), 0.2)
	golden(t, "html_compared.outline", outline(parsed(t, page(t, report.NewDocument(quickRun(), &c), report.NewDocument(probeRun(), nil)))))
}

// Each plot contains exactly the points that it was given.
func TestPlotsHoldTheData(t *testing.T) {
	for _, c := range []struct {
		run    record.RunReport
		title  string
		points int
		doubt  int
	}{
		{depthRun(), "IOPS and latency over depth, 4 KiB random read", 3 * 11, 3},
		{linearRun(), "Sequential speed over the offset", 48, 0},
		{steadyRun(), "Approach to the steady state", 24, 0},
		{scaleRun(), "Total over the number of devices, 4 KiB random read, depth 128, 4 jobs", 24, 6},
		{cacheRun(), "Repeats of each load around their mean", 16, 2},
	} {
		t.Run(c.title, func(t *testing.T) {
			var found *html.Node
			for _, svg := range all(parsed(t, pageOf(t, c.run)), "svg", "plot") {
				if attribute(svg, "aria-label") == c.title {
					found = svg
				}
			}
			require.NotNil(t, found)
			assert.Len(t, all(found, "path", "point"), c.points)
			assert.Len(t, all(found, "path", "doubt"), c.doubt)
		})
	}
}

// The page needs no other file.
func TestHTMLIsSelfContained(t *testing.T) {
	for name, r := range suiteRuns() {
		text := pageOf(t, r)
		n := parsed(t, text)
		for _, element := range []string{"script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image", "foreignobject"} {
			assert.Empty(t, all(n, element, ""), "%s: %s", name, element)
		}
		for _, part := range []string{"@import", "url(", "http://", "https://"} {
			assert.Zero(t, strings.Count(text, part), "%s: %s", name, part)
		}
		for c := range n.Descendants() {
			for _, a := range c.Attr {
				assert.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
				if a.Key == "href" {
					assert.True(t, strings.HasPrefix(a.Val, "#"), a.Val)
				}
			}
		}
		assert.Equal(t, "default-src 'none'; style-src 'unsafe-inline'", policy(n))
	}
}

func policy(n *html.Node) string {
	for _, meta := range all(n, "meta", "") {
		if attribute(meta, "http-equiv") == "Content-Security-Policy" {
			return attribute(meta, "content")
		}
	}
	return ""
}

// Links have targets, even when a page contains several runs.
func TestHTMLAnchors(t *testing.T) {
	n := parsed(t, page(t, report.NewDocument(depthRun(), nil), report.NewDocument(steadyRun(), nil)))
	ids := map[string]int{}
	for c := range n.Descendants() {
		if id := attribute(c, "id"); id != "" {
			ids["#"+id]++
		}
	}
	links := all(n, "a", "")
	assert.Greater(t, len(links), 4)
	for _, a := range links {
		assert.Equal(t, 1, ids[attribute(a, "href")], attribute(a, "href"))
	}
}

const hostile = "</script></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=x\x00\x1b[31m\u202e{{.}}"

// spoil replaces every string below v by text.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			spoil(v.Field(i), text)
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return
		}
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			spoil(value, text)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
		}
	default:
	}
}

func TestHTMLEscapesEverything(t *testing.T) {
	testenv.Long(t)
	for name, r := range suiteRuns() {
		r.Settings = map[string]string{"a": "b"}
		c := compare.Pair(r, r, 0.1)
		spoil(reflect.ValueOf(&r).Elem(), hostile)
		spoil(reflect.ValueOf(&c).Elem(), hostile)
		text := page(t, report.NewDocument(r, &c))
		n := parsed(t, text)
		assert.Empty(t, all(n, "script", ""), name)
		assert.Empty(t, all(n, "img", ""), name)
		assert.Len(t, all(n, "style", ""), 1, name)
		assert.False(t, strings.ContainsAny(text, "\x1b\x00\u202e"), "%s: characters that do not show", name)
		var document strings.Builder
		require.NoError(t, report.JSON(&document, r))
		assert.False(t, strings.ContainsAny(document.String(), "\x1b\x00\u202e"), "%s: the same of JSON", name)
		var back record.RunReport
		require.NoError(t, json.Unmarshal([]byte(document.String()), &back))
		assert.Equal(t, hostile, back.Target, "which means what it did before")
		assert.Positive(t, strings.Count(text, "&lt;script&gt;"), name)
		for c := range n.Descendants() {
			for _, a := range c.Attr {
				assert.False(t, strings.HasPrefix(a.Key, "on"), "%s: %s", name, a.Key)
			}
		}
	}
}

// A page of very many steps with very wide histograms stays small enough to be mailed.
func TestHTMLIsBounded(t *testing.T) {
	testenv.Long(t)
	bins := make([]record.Bin, 5000)
	for i := range bins {
		bins[i] = record.Bin{Latency: time.Duration(1+i*i) * 100, Count: int64(1 + i%7)}
	}
	h := record.NewHistogram(bins)
	r := steadyRun()
	one := r.Steps[0]
	for i := range 1000 {
		s := one
		s.Name, s.JobFile = fmt.Sprintf("round-%d", i), strings.Repeat("bs=4096\n", 4000)
		w := *s.Workload
		w.Round = i + 1
		s.Workload, s.Write = &w, result(h, 4<<10, 32)
		r.Steps = append(r.Steps, s)
		r.Analysis.Steady.Path = append(r.Analysis.Steady.Path, record.SteadyRound{Round: 100 + i, Value: 70_000, Phase: "steady"})
	}
	text := pageOf(t, r)
	assert.Less(t, len(text), 4<<20)
	n := parsed(t, text)
	assert.Equal(t, 2, strings.Count(words(n), "824 rows are left out here; the JSON has all of them."), "of the rounds and of the steps")
	for _, svg := range all(n, "svg", "plot") {
		for _, path := range all(svg, "path", "line") {
			assert.Less(t, len(attribute(path, "d")), 30_000, attribute(svg, "aria-label"))
		}
	}
}

func TestHTMLOfNothing(t *testing.T) {
	n := parsed(t, pageOf(t, record.RunReport{Suite: "quick", Target: "/dev/x"}))
	assert.Contains(t, words(n), "Nothing was measured.")
	assert.Empty(t, all(n, "svg", ""))
	// An empty analysis is treated like no analysis.
	empty := record.RunReport{Suite: "quick", Target: "/dev/x", Analysis: &record.Analysis{
		Steady: &record.Steady{}, Offsets: record.OffsetLines{{}}, Scalings: []record.Scaling{{}}, Spreads: []record.Spread{{}},
		Effects: []record.SettingEffect{{}}, Knees: []record.Knee{{}}, Bounds: []record.Bound{{}},
	}}
	pageOf(t, empty)
	runText(t, empty)
}

// numbers replaces every number below v by n.
func numbers(v reflect.Value, n float64) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		switch {
		case n >= math.MaxInt64:
			v.SetInt(math.MaxInt64)
		case n <= math.MinInt64:
			v.SetInt(math.MinInt64)
		default:
			v.SetInt(int64(n))
		}
	case reflect.Float64:
		v.SetFloat(n)
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			numbers(v.Field(i), n)
		}
	default:
	}
}

// A report file may contain any numbers; none of them prevents the others from being
// shown.
func TestHTMLOfExtremeNumbers(t *testing.T) {
	untouched := suiteRuns()
	for _, n := range []float64{0, -1, 1e308, 1e-308, math.MaxInt64 / 2} {
		for name, r := range suiteRuns() {
			c := against([]string{"a", "b"}, r, r)
			numbers(reflect.ValueOf(&r).Elem(), n)
			text := pageOf(t, r)
			assert.False(t, strings.Contains(text, "NaN") || strings.Contains(text, "Inf"), "%s with %g", name, n)
			runText(t, r)
			comparisonsText(t, against([]string{"a", "b"}, r, untouched[name]))
			comparisonsText(t, c)
		}
	}
}

func TestHTMLWriteErrors(t *testing.T) {
	broken := brokenPipe{errors.New("broken pipe")}
	require.EqualError(t, report.HTML(broken, report.NewDocument(quickRun(), nil)), "write the page: broken pipe")
}

func TestSuiteText(t *testing.T) {
	runs := suiteRuns()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if name != "probe" { // has its own golden file
			t.Run(name, func(t *testing.T) { golden(t, "suite_"+name+".txt", runText(t, runs[name])) })
		}
	}
}
