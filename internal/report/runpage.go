package report

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/html"
	"github.com/ssdprobe/ssdprobe/internal/report/markdown"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// HTML writes runs as one self-contained page with plots. The size of the page is
// bounded.
func HTML(w io.Writer, documents ...Document) error { return html.Write(w, runPages(documents)...) }

// Markdown writes runs as tables for a ticket or a mail, with the conditions and all
// warnings. It leaves out plots and job files.
func Markdown(w io.Writer, documents ...Document) error {
	return markdown.Write(w, runPages(documents)...)
}

func runPages(documents []Document) []document.Page {
	pages := make([]document.Page, len(documents))
	for i, d := range documents {
		pages[i] = runPage(d)
	}
	return pages
}

const resultsID = "results"

func runPage(d Document) document.Page {
	r := d.Report
	p := document.Page{
		Title: runTitle(r), About: runAbout(r), Doubt: doubtSentence(r), Warnings: r.Warnings,
		Foot: "measured by " + r.Generator + " · drives and rates are decimal (1 MB/s = 1 000 000 bytes per second), blocks and files binary (1 KiB = 1024 bytes)",
	}
	if r.Node != "" {
		p.About = append([]string{r.Node}, p.About...)
	}
	if d.Comparison != nil {
		p.Sections = append(p.Sections, comparisonSection(d))
	}
	all := append(sections(r), latencySection(r)...)
	p.Sections = append(append(p.Sections, conditionsSection(r)), all...)
	p.Lead, p.Points = leads(r, all)
	if len(r.Steps) > 0 {
		p.Sections = append(p.Sections, document.Section{ID: resultsID, Title: "All steps", Blocks: runTable(r)})
	}
	if jobs := jobBlocks(r.Steps); len(jobs) > 0 {
		p.Sections = append(p.Sections, document.Section{Title: "Job files of fio", Blocks: jobs})
	}
	return p
}

// leads returns the answer to the suite's question in a sentence, and the other
// conclusions of its sections. The best figures become a point that links to the results
// when they are not the answer.
func leads(r record.RunReport, all []document.Section) (lead string, points []document.Point) {
	lead, best := leadOf(r, all), bestSentence(r)
	if lead != best {
		points = append(points, document.Point{Section: resultsID, Text: best})
	}
	for _, s := range all {
		if s.Lead != "" && s.Lead != lead {
			points = append(points, document.Point{Section: s.ID, Text: s.Lead})
		}
	}
	return lead, points
}

func conditionsSection(r record.RunReport) document.Section {
	s := document.Section{Title: "Conditions", Blocks: []document.Block{runFacts(r)}}
	var set document.Facts
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		set = append(set, document.Fact{Name: name, Value: r.Settings[name]})
	}
	if len(set) > 0 {
		s.Blocks = append(s.Blocks, document.Section{Title: "Parameters that were set", Blocks: []document.Block{set}})
	}
	return s
}

// mostJobs and mostJobBytes limit the number and the size of job files on the page.
const (
	mostJobs     = 100
	mostJobBytes = 16 << 10
)

func jobBlocks(steps []record.Step) []document.Block {
	var jobs []document.Block
	leftOut := 0
	for _, s := range steps {
		switch {
		case s.JobFile == "":
		case len(jobs) == mostJobs:
			leftOut++
		default:
			text := s.JobFile
			if len(text) > mostJobBytes {
				text = strings.ToValidUTF8(text[:mostJobBytes], "") + "\n… and more: the JSON has all of it\n"
			}
			jobs = append(jobs, document.Section{Title: s.Name, Folded: true, Blocks: []document.Block{document.Code(text)}})
		}
	}
	if leftOut > 0 {
		jobs = append(jobs, document.Sentence(units.Count(leftOut)+" more are in the JSON."))
	}
	return jobs
}
