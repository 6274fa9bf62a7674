package report

import (
	"io"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Brief writes the short form of a run report: the conclusion, the warnings, and a row per step and direction. Run
// writes the full report.
func Brief(w io.Writer, r record.RunReport) error {
	blocks := []document.Block{document.Sentence(runTitle(r) + ", " + strings.Join(runAbout(r), ", "))}
	if len(r.Steps) == 0 {
		return text.Write(w, "run report", append(blocks, document.Warnings(r.Warnings), document.Sentence("Nothing was measured."))...)
	}
	all := sections(r)
	lead, points := leads(r, all)
	blocks = append(blocks, document.Sentence(lead))
	for _, s := range all {
		if s.Lead == lead && len(s.Answer) > 0 {
			blocks = append(append(blocks, s.Answer...), document.Gap{})
		}
	}
	for _, p := range points {
		blocks = append(blocks, document.Sentence(p.Text))
	}
	blocks = append(blocks, document.Gap{}, document.Warnings(r.Warnings), document.Gap{})
	table, unsure := briefTable(r)
	blocks = append(blocks, table, document.Gap{})
	if unsure {
		blocks = append(blocks, unsureNote())
	}
	more := "--verbose shows the conditions, all percentiles and the plots."
	if doubt := doubtSentence(r); doubt != "" {
		more = strings.Replace(doubt, ", shown below the figures", "", 1) + " --verbose shows them, the conditions, all percentiles and the plots."
	}
	return text.Write(w, "run report", append(blocks, document.Sentence(more))...)
}

// noResult says why a step has no result.
func noResult(s record.Step) string {
	if s.JobFile == "" && s.Workload == nil && len(s.Warnings) == 0 {
		return "not measured"
	}
	return "no result"
}

func briefTable(r record.RunReport) (t document.Table, unsure bool) {
	unit := units.LatencyUnitFor(lowestMedian(r))
	t = document.Table{
		Names: []string{"step", "", "IOPS", "MB/s", "p50", "p99", "errors", "warnings"},
		Units: []string{"", "", "", "", unit.Name, unit.Name, "", ""},
		Align: "llrrrrrl", Long: true,
	}
	for _, step := range r.Steps {
		name, failed, warnings := step.Name, "", warned(step.Warnings)
		if n := sum(step.Errors); n > 0 {
			failed = units.Count(n)
		}
		shown, empty := parts(step), noResult(step)
		if step.Impossible() {
			shown, empty = nil, "impossible"
		}
		for _, part := range shown {
			s := summarise(step, part)
			all := s.cells(unit)
			unsure = unsure || slices.Contains(s.Unsure, "p50") || slices.Contains(s.Unsure, "p99")
			t.Add(name, all[0], all[1], all[2], all[5], all[7], failed, warnings)
			name, failed, warnings = "", "", ""
		}
		if name != "" {
			t.Add(name, empty, "", "", "", "", failed, warnings)
		}
	}
	return t, unsure
}
