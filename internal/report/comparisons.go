package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Comparisons compares each of several runs with the first one.
type Comparisons struct {
	// Names are the names of the files, in the order of the runs.
	Names       []string            `json:"names"`
	Comparisons []record.Comparison `json:"comparisons"`
}

// Letter returns the short name of a run: A, B, …, and its number after Z.
func Letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

// Text writes which runs are compared, and for each what changed since the first one.
func (c Comparisons) Text(w io.Writer) error {
	var blocks []document.Block
	for i, name := range c.Names {
		r := c.Comparisons[max(0, i-1)].After
		if i == 0 {
			r = c.Comparisons[0].Before
		}
		blocks = append(blocks, document.Note{Label: Letter(i) + "  ", Text: name + ": " + referenceText(r)})
	}
	for i, one := range c.Comparisons {
		blocks = append(blocks, document.Gap{})
		if text := sameConditions(one); text != "" {
			blocks = append(blocks, document.Sentence(text))
		}
		blocks = append(blocks, comparisonBlocks(one, nil, "A", "A", Letter(i+1))...)
	}
	return text.Write(w, "comparison", blocks...)
}

// referenceText identifies a run: "quick on /dev/nvme0n1, stor-07, 2026-05-09 03:00:00".
func referenceText(r record.RunReference) string {
	texts := []string{r.Suite + " on " + r.Target}
	if r.Node != "" {
		texts = append(texts, r.Node)
	}
	return strings.Join(append(texts, units.Time(r.Started)), ", ")
}

// sameConditions says whether the conditions are the same or unknown; empty when some are known to
// differ.
func sameConditions(c record.Comparison) string {
	const unknown = "Whether the conditions are the same is unknown: the output of fio does not contain them."
	switch {
	case c.Unknown():
		return unknown
	case len(c.Conditions) == 0:
		return "The conditions are the same."
	}
	return ""
}

// CSV writes a row per figure for spreadsheets, and one with the reason for each load that is not
// compared.
func (c Comparisons) CSV(w io.Writer) error {
	rows := [][]string{{
		"from_file", "to_file", "from_started", "to_started", "conditions_changed", "load", "plan", "direction", "figure", "unit",
		"from", "to", "from_values", "to_values", "times_slower", "lower", "upper", "p", "verdict", "ignored", "run_verdict", "warnings",
		"run_warnings", "not_compared", "percentile_of_few_ios",
	}}
	const moment = "2006-01-02 15:04:05"
	for i, r := range c.Comparisons {
		row := func(load, plan string, direction record.Direction, figure []string, ignored, warnings, notCompared, few string) {
			rows = append(rows, slices.Concat([]string{
				c.Names[0], c.Names[i+1], r.Before.Started.UTC().Format(moment), r.After.Started.UTC().Format(moment),
				strings.Join(record.ChangeTexts(r.Conditions), "; "), load, plan, string(direction),
			}, figure, []string{ignored, string(r.Verdict), warnings, warned(r.Warnings), notCompared, few}))
		}
		for _, l := range r.Loads {
			for _, f := range l.Figures {
				unit := "s"
				if f.Statistic == record.IOPS {
					unit = "1/s"
				}
				row(l.Load, l.Plan, l.Direction, []string{
					f.Statistic.Short(), unit, digits(&f.Before), digits(&f.After), strconv.Itoa(l.Before), strconv.Itoa(l.After),
					digits(&f.Slower.Value), digits(f.Slower.Lower), digits(f.Slower.Upper), digits(f.P), string(f.Verdict),
				}, l.Ignored, warned(l.Warnings), "", fewText(f))
			}
		}
		for _, l := range r.NotCompared {
			const figureColumns = 11
			row(l.Load, "", l.Direction, make([]string, figureColumns), "", "", l.Reason, "")
		}
	}
	return WriteCSV(w, rows)
}

// fewText says which of both values of a percentile too few I/Os support: "from", "to" or "from to".
func fewText(f record.ComparedFigure) string {
	var sides []string
	if f.BeforeUnsure {
		sides = append(sides, "from")
	}
	if f.AfterUnsure {
		sides = append(sides, "to")
	}
	return strings.Join(sides, " ")
}
