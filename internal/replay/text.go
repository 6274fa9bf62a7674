package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Text writes the report for people: what changed and when, a plot of each statistic against the
// baseline, and the state at the end. For a node, it lists the drives, the worst first, and shows
// details of the slow ones.
func (r *Report) Text(w io.Writer) error {
	what := units.Plural(r.Rounds, "round")
	if len(r.Drives) > 1 {
		what += fmt.Sprintf(" of %s", units.Plural(len(r.Drives), "drive"))
	}
	blocks := []document.Block{
		document.Sentence(fmt.Sprintf("%s from %s to %s UTC (%s)", what, r.From, r.To, units.Span(time.Time(r.To).Sub(time.Time(r.From))))),
		document.Gap{},
	}
	told := len(blocks)
	for _, l := range r.Lines {
		if said := l.text(); said != "" && (len(r.Drives) == 1 || l.Statistic == "" || l.Drive == "") {
			blocks = append(blocks, document.Note{Label: fmt.Sprintf("%s  %-5s ", l.Time, l.subject(len(r.Drives) > 1)), Text: said})
		}
	}
	if len(blocks) == told {
		blocks = append(blocks, document.Sentence("Nothing has drifted."))
	}
	if len(r.Drives) > 1 {
		blocks = append(blocks, document.Gap{})
		for _, d := range r.Drives {
			blocks = append(blocks, document.List("", fmt.Sprintf("%-12s %s", d.Drive, d.Verdict.verdict())))
		}
	}
	for _, d := range r.Drives {
		if len(r.Drives) == 1 || d.slow() {
			blocks = append(blocks, d.blocks(len(r.Drives) > 1)...)
		}
	}
	return text.Write(w, "the replay", blocks...)
}

// slow reports whether the drive was slow at the end.
func (d DriveReport) slow() bool {
	return d.Verdict.Verdict.Blames()
}

// subject returns what a line is about: a statistic of the only drive, one of several drives, or the
// host.
func (l Line) subject(several bool) string {
	switch {
	case l.Scope == record.ScopeHost:
		return "host"
	case several:
		return l.Drive
	case l.Statistic == "":
		return "drive"
	}
	return l.Statistic.Short()
}

// verdict returns the verdict on a drive in words.
func (l Line) verdict() string {
	switch l.Verdict {
	case record.Degraded, record.Severe:
		said := fmt.Sprintf("%s since %s", l.Verdict, l.Since)
		if l.Ratio > 0 {
			said += ": " + record.Ratio{Ratio: l.Ratio, Lower: l.Lower, Upper: l.Upper}.String()
		}
		if len(l.Witnesses) > 0 {
			said += ", by its " + strings.Join(l.Witnesses, " and ")
		}
		if l.Scope == record.ScopeBatch {
			said += ", together with others"
		}
		return said + l.changed()
	case record.Healthy, record.Watch, record.Unjudged:
	}
	return string(l.Verdict)
}

// text describes a change in words. It is empty for learning and for suspicions, which only the plot
// shows.
func (l Line) text() string {
	switch {
	case l.Effect != nil && l.Effect.Ratio > 0:
		return fmt.Sprintf("since %s: %s", strings.Join(slices.Compact(record.ChangeTexts(l.Attribution)), ", "), *l.Effect)
	case l.Statistic == "":
		if l.Verdict.Blames() {
			return l.verdict()
		}
	case l.State == State(record.Regressed) || l.State == State(record.Improved):
		said := fmt.Sprintf("%s since %s", l.State, l.Since)
		switch {
		case l.Cause == record.BySlowRounds:
			said += ": slow rounds have become common"
		case l.Ratio > 0:
			said += ": " + units.RatioWithin(l.Ratio, l.Lower, l.Upper)
		}
		if len(l.Drives) > 0 {
			said += ", " + units.Plural(len(l.Drives), "drive")
		}
		return said + l.changed()
	}
	return ""
}

// changed names the changes of conditions that came with what a line says.
func (l Line) changed() string {
	if changed := record.ChangedWith(l.Attribution); changed != "" {
		return ", " + changed
	}
	return ""
}

// blocks shows a drive: a plot of its probe, and the states at the end.
func (d DriveReport) blocks(named bool) []document.Block {
	blocks := []document.Block{document.Gap{}}
	if named {
		blocks = append(blocks, document.Sentence(d.Drive+":"))
	}
	blocks = append(blocks, d.plot.blocks()...)
	if d.Now != nil {
		blocks = append(blocks, end("the baseline", *d.Now)...)
	}
	if d.Traffic != nil {
		blocks = append(blocks, end("the baseline of its traffic", *d.Traffic)...)
	}
	return blocks
}

// blocks plots the statistics below each other, with a letter for the state of each column.
func (h history) blocks() []document.Block {
	if len(h) == 0 {
		return nil
	}
	columns, width := h.columns()
	blocks := []document.Block{document.Sentence(fmt.Sprintf(
		"Times slower than the baseline, corrected for load; a column is %s; R regressed, I improved, ? suspect", units.Span(width)))}
	for i, s := range record.Statistics() {
		ratios, marks := line(columns, i)
		bars, low, high := plot.Bars(ratios)
		blocks = append(blocks,
			document.List(fmt.Sprintf("%-5s ", s.Short()), fmt.Sprintf("%s  %s to %s", bars, units.Ratio(low), units.Ratio(high))),
			document.List("      ", marks))
	}
	return append(blocks, document.List("      ", "from "+Seconds(h[0].at).String()))
}

// end describes the state after the last round.
func end(what string, n drift.Explanation) []document.Block {
	if n.Maturity == "" {
		return []document.Block{document.Gap{}, document.Sentence(fmt.Sprintf("At the end: learning %s, %s so far", what, units.Plural(n.Rounds, "round")))}
	}
	baseline := fmt.Sprintf("At the end: %s is %s, learned from %s in %s", what, n.Maturity, units.Plural(n.Rounds, "round"), units.Plural(n.Blocks, "block"))
	if unjudged := report.UnjudgedText(n.UnjudgedBlocks); unjudged != "" {
		baseline += "; " + unjudged
	}
	blocks := []document.Block{document.Gap{}, document.Sentence(baseline)}
	for _, s := range n.Statistics {
		if s.Ratio == 0 {
			continue // nothing was compared
		}
		blocks = append(blocks, document.List("", fmt.Sprintf("%-5s %-9s %s", s.Statistic.Short(), s.State, units.RatioWithin(s.Ratio, s.Lower, s.Upper))))
	}
	return blocks
}
