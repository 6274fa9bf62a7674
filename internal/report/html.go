package report

import (
	"bytes"
	_ "embed" // the page and its style
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

//go:embed report.html
var pageText string

//go:embed report.css
var pageStyle string

// HTML writes runs as one page that holds all it needs: it is readable without a
// network and without scripts, light, dark and printed. It stays small whatever the
// runs hold: long tables are cut in the middle, with a word about it, and plots show
// classes.
func HTML(w io.Writer, documents ...Document) error {
	t, err := template.New("report").Funcs(template.FuncMap{"clean": clean}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	view := htmlPage{Style: template.CSS(pageStyle), PlotStyle: plot.Style()}
	var titles []string
	for i, d := range documents {
		view.Runs = append(view.Runs, newHTMLRun(d, fmt.Sprintf("run-%d-", i+1)))
		titles = append(titles, d.Report.Suite+" on "+runTarget(d.Report))
	}
	view.Title = clean(strings.Join(titles, "; "))
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// htmlPage is what the template shows.
type htmlPage struct {
	Title            string
	Style, PlotStyle template.CSS
	Runs             []htmlRun
}

type htmlRun struct {
	Anchor, ResultsAnchor string
	Suite, Target         string
	About, Generator      string
	Lead                  string
	Leads                 []htmlLead // of the sections
	Doubt                 string
	Warnings              []record.Warning
	Comparison            *htmlComparison
	Facts, MoreFacts      []htmlFact
	Results               htmlResults
	Sections              []htmlSection
	Jobs                  []htmlJob
	JobsLeftOut, Steps    int
}

type htmlLead struct{ Anchor, Text string }

type htmlFact struct{ Name, Value string }

type htmlSection struct {
	Anchor, Title, Lead string
	Notes               []string
	Pictures            []htmlPicture
	Table               *htmlTable
}

type htmlPicture struct {
	SVG      template.HTML
	Caption  string
	Warnings []record.Warning
}

type htmlTable struct {
	Names, Units []htmlCell
	Rows         []htmlRow
	// Folded is how many rows a reader has to ask for; 0 for a short table.
	Folded int
}

type htmlRow struct {
	Cells []htmlCell
	Notes []string
	// LeftOut is how many rows are not shown before this one.
	LeftOut, Columns int
}

type htmlCell struct {
	Text  string
	Right bool
}

type htmlJob struct{ Step, Text string }

type htmlComparison struct {
	Headline, Tone string
	Changes        []htmlFact
	Warnings       []record.Warning
	NotCompared    []string
	Table          *htmlTable
}

// mostUnfolded is how long a table may be beside a plot of the same figures.
const mostUnfolded = 16

// mostJobs and mostJobBytes bound what the page holds of job files.
const (
	mostJobs     = 100
	mostJobBytes = 16 << 10
)

func newHTMLRun(d Document, prefix string) htmlRun {
	r := d.Report
	about := []string{units.Time(r.Started)}
	if r.Node != "" {
		about = append([]string{r.Node}, about...)
	}
	if r.Finished.After(r.Started) {
		about = append(about, units.Plural(len(r.Steps), "step")+" in "+units.Span(r.Finished.Sub(r.Started)))
	}
	v := htmlRun{
		Anchor: prefix + "top", ResultsAnchor: prefix + "results", Suite: clean(r.Suite), Target: clean(runTarget(r)), About: clean(strings.Join(about, " · ")),
		Generator: clean(r.Generator), Doubt: doubtSentence(r), Warnings: r.Warnings, Steps: len(r.Steps),
		Lead: clean(bestSentence(r)),
	}
	if len(r.Steps) > 0 {
		v.Results = htmlResultsOf(r)
	}
	chief := false
	for _, s := range append(sections(r), latencySection(r)...) {
		v.Sections = append(v.Sections, s.html(prefix))
		switch {
		case s.lead == "":
		case !chief && !s.minor: // what the suite asked for goes before what was reached at best
			chief = true
			v.Leads = append(v.Leads, htmlLead{"#" + v.ResultsAnchor, v.Lead})
			v.Lead = clean(s.lead)
		default:
			v.Leads = append(v.Leads, htmlLead{"#" + prefix + s.id, clean(s.lead)})
		}
	}
	for _, f := range runFacts(r) {
		if f.value != "" {
			v.Facts = append(v.Facts, htmlFact{f.name, clean(f.value)})
		}
	}
	for _, name := range sortedKeys(r.Settings) {
		v.MoreFacts = append(v.MoreFacts, htmlFact{clean(name), clean(r.Settings[name])})
	}
	if d.Comparison != nil {
		v.Comparison = htmlComparisonOf(*d.Comparison)
	}
	v.addJobs(r.Steps)
	return v
}

func (v *htmlRun) addJobs(steps []record.Step) {
	for _, s := range steps {
		switch {
		case s.JobFile == "":
		case len(v.Jobs) == mostJobs:
			v.JobsLeftOut++
		default:
			text := s.JobFile
			if len(text) > mostJobBytes {
				text = strings.ToValidUTF8(text[:mostJobBytes], "") + "\n… and more: the JSON has all of it\n"
			}
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				lines[i] = clean(line)
			}
			v.Jobs = append(v.Jobs, htmlJob{clean(s.Name), strings.Join(lines, "\n")})
		}
	}
}

func (s section) html(prefix string) htmlSection {
	v := htmlSection{Anchor: prefix + s.id, Title: clean(s.title), Lead: clean(s.lead)}
	for _, note := range s.notes {
		v.Notes = append(v.Notes, clean(note))
	}
	for _, p := range s.plots {
		v.Pictures = append(v.Pictures, htmlPicture{p.svg, clean(strings.TrimSpace(p.caption + " " + p.hollow)), p.warnings})
	}
	if s.table != nil {
		v.Table = s.table.html()
	}
	return v
}

// html leaves out columns that hold nothing.
func (s sheet) html() *htmlTable {
	rows, leftOut, at := s.bounded()
	used := s.used(rows)
	cells := func(texts []string) []htmlCell {
		var all []htmlCell
		for i, text := range texts {
			if used[i] {
				all = append(all, htmlCell{clean(text), s.align[i] == 'r'})
			}
		}
		return all
	}
	t := &htmlTable{Names: cells(s.header[0]), Units: cells(s.header[1])}
	if len(s.rows) > mostUnfolded {
		t.Folded = len(s.rows)
	}
	for i, row := range rows {
		v := htmlRow{Cells: cells(row.cells), Columns: len(t.Names)}
		for _, note := range row.notes {
			v.Notes = append(v.Notes, clean(note))
		}
		if i == at && leftOut > 0 {
			v.LeftOut = leftOut
		}
		t.Rows = append(t.Rows, v)
	}
	return t
}
