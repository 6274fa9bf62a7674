package replay

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Text writes the report for people: what changed and when, a plot of each
// statistic against the baseline, and the state at the end.
func (r *Report) Text(w io.Writer) error {
	if r.Rounds == 0 {
		return text.Write(w, "the replay", document.Sentence("The history holds no round."))
	}
	blocks := []document.Block{
		document.Sentence(fmt.Sprintf("%s from %s to %s (%s)", units.Plural(r.Rounds, "round"), r.From, r.To, units.Span(time.Time(r.To).Sub(time.Time(r.From))))),
		document.Gap{},
	}
	told := len(blocks)
	for _, l := range r.Lines {
		if said := l.text(); said != "" {
			blocks = append(blocks, document.Note{Label: fmt.Sprintf("%s  %-5s ", l.Time, l.Statistic.Short()), Text: said})
		}
	}
	if len(blocks) == told {
		blocks = append(blocks, document.Sentence("Nothing has drifted."))
	}
	return text.Write(w, "the replay", append(append(append(blocks, document.Gap{}), r.plot.blocks()...), r.end()...)...)
}

// text tells a change in words. What is learned, and suspicion, are left out: the
// plot shows them.
func (l Line) text() string {
	switch {
	case l.Effect != nil && l.Effect.Ratio > 0:
		return fmt.Sprintf("since %s: %s", changesText(l.Attribution), *l.Effect)
	case l.State == record.Regressed || l.State == record.Improved:
		said := fmt.Sprintf("%s since %s", l.State, l.Since)
		if l.Cause == record.BySlowRounds {
			said += ": slow rounds have become common"
		} else {
			said += ": " + record.Ratio{Ratio: l.Ratio, Lower: l.Lower, Upper: l.Upper}.String()
		}
		if len(l.Attribution) > 0 {
			said += ", because " + changesText(l.Attribution)
		}
		return said
	}
	return ""
}

// blocks draw the statistics below each other, with a letter for the state of each column.
func (h history) blocks() []document.Block {
	if len(h) == 0 {
		return nil
	}
	columns, width := h.columns()
	blocks := []document.Block{document.Sentence(fmt.Sprintf(
		"Times slower than the baseline, load taken out; a column is %s; R regressed, I improved, ? suspect", units.Span(width)))}
	for i, s := range record.Statistics() {
		ratios, marks := line(columns, i)
		bars, low, high := plot.Bars(ratios)
		blocks = append(blocks,
			document.List(fmt.Sprintf("%-5s ", s.Short()), fmt.Sprintf("%s  %s to %s", bars, units.Ratio(low), units.Ratio(high))),
			document.List("      ", marks))
	}
	return append(blocks, document.List("      ", "from "+Seconds(h[0].at).String()))
}

// end is the state after the last round.
func (r *Report) end() []document.Block {
	n := r.Now
	if n.Maturity == "" {
		return []document.Block{document.Gap{}, document.Sentence(fmt.Sprintf("At the end: learning, %s so far", units.Plural(n.Rounds, "round")))}
	}
	baseline := fmt.Sprintf("At the end: the baseline is %s, of %s in %s", n.Maturity, units.Plural(n.Rounds, "round"), units.Plural(n.Blocks, "block"))
	if n.UnjudgedBlocks > 0 {
		baseline += fmt.Sprintf("; %s were not judged, under more load than it has seen", units.Plural(n.UnjudgedBlocks, "block"))
	}
	blocks := []document.Block{document.Gap{}, document.Sentence(baseline)}
	for _, s := range n.Statistics {
		blocks = append(blocks, document.List("", fmt.Sprintf("%-5s %-9s %s", s.Statistic.Short(), s.State, record.Ratio{Ratio: s.Ratio, Lower: s.Lower, Upper: s.Upper})))
	}
	return blocks
}

func changesText(list []record.Change) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
}
