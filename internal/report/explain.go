package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Explained holds the evidence for the states of a target's probes.
type Explained struct {
	Time     time.Time `json:"time"`
	Node     string    `json:"node"`
	TargetID string    `json:"target_id"`
	Path     string    `json:"path"`
	Device   string    `json:"device,omitempty"`
	// Stored and LastRound are as in a record.Snapshot.
	Stored    bool      `json:"stored,omitempty"`
	LastRound time.Time `json:"last_round,omitzero"`
	// Verdict is the verdict on the drive as a whole; nil if it was never judged. Together lists what drives of its host did
	// together.
	Verdict  *record.Judgement `json:"verdict,omitempty"`
	Together []record.Together `json:"together,omitempty"`
	// HostNotes say what was accepted for the host, and why.
	HostNotes []drift.Note `json:"host_notes,omitempty"`
	// Beside compares the drive with its peers.
	Beside []record.Beside  `json:"beside,omitempty"`
	Probes []ProbeExplained `json:"probes"`
	// Traffic holds the evidence for the states of the I/O of the drive's users; nil when nothing is known of it.
	Traffic *drift.Explanation `json:"traffic,omitempty"`
}

// Judge adds what the judge of the node knows about the target.
func (x *Explained) Judge(n *judge.Node) {
	if v, ok := n.Verdict(x.TargetID); ok {
		x.Verdict = &v
	}
	x.Beside, x.Together, x.HostNotes = n.Beside(x.TargetID), n.Together(), n.HostNotes()
}

// ProbeExplained holds the evidence for the states of one probe.
type ProbeExplained struct {
	Probe string `json:"probe"`
	drift.Explanation
}

// Explain writes the verdict on the drive as a whole and how it compares with its peers. Then it writes for each probe
// and for the traffic: the baseline, how the recent blocks compare with it, the evidence for a drift, and why there is an
// alarm or none.
func Explain(w io.Writer, x Explained) error {
	blocks := []document.Block{document.Sentence(fmt.Sprintf("%s (id %s) on %s, %s", x.Path, x.TargetID, x.Node, units.UTC(x.Time)))}
	blocks = append(blocks, x.drive()...)
	sources := slices.Clone(x.Probes)
	if x.Traffic != nil {
		sources = append(sources, ProbeExplained{record.SourceTraffic, *x.Traffic})
	}
	for _, s := range sources {
		blocks = append(append(blocks, document.Gap{}), s.blocks(x.Time)...)
	}
	if len(sources) == 0 {
		blocks = append(blocks, document.Sentence("No probe runs on this target, and nothing is stored about one."))
	}
	return text.Write(w, "explanation", blocks...)
}

func (x ProbeExplained) blocks(now time.Time) []document.Block {
	head := document.Note{Label: x.Probe + ": ", Text: fmt.Sprintf("no baseline under the current conditions yet, %s so far", units.Plural(x.Rounds, "round"))}
	about := document.Section{Blocks: []document.Block{document.List("conditions: ", conditionsList(x.Conditions)...)}}
	if x.Maturity == "" {
		return []document.Block{head, about}
	}
	head.Text = baselineText(x.Explanation)
	about.Blocks = append(about.Blocks, effectBlocks("", x.Earlier, x.Effect, x.Lifetime)...)
	if unjudged := UnjudgedText(x.UnjudgedBlocks); unjudged != "" {
		about.Blocks = append(about.Blocks, document.Sentence(unjudged))
	}
	about.Blocks = append(about.Blocks, workBlocks(x.Explanation)...)
	for _, n := range x.Notes {
		about.Blocks = append(about.Blocks, operatorNote(n, ""))
	}
	for i, s := range x.Statistics {
		about.Blocks = append(about.Blocks, document.Gap{}, document.List(fmt.Sprintf("%-4s  ", s.Statistic.Short()), stateText(s, now)),
			document.Section{Indent: 6, Blocks: statisticBlocks(x.Explanation, i, s)})
	}
	return []document.Block{head, about}
}

// baselineText describes a baseline: "final baseline of 2 880 rounds in 288 blocks, under 0 to 43 % load
// from others".
func baselineText(x drift.Explanation) string {
	text := fmt.Sprintf("%s baseline of %s", x.Maturity, units.Plural(x.Rounds, "round"))
	if x.Blocks > 0 {
		text += fmt.Sprintf(" in %s", units.Plural(x.Blocks, "block"))
	}
	if x.MinLoad == x.MaxLoad {
		return text + fmt.Sprintf(", under %s load from others", units.Percent(x.MaxLoad))
	}
	return text + fmt.Sprintf(", under %.0f to %s load from others", 100*x.MinLoad, units.Percent(x.MaxLoad))
}

// operatorNote returns an operator's note: "note of 2026-05-04 10:42 UTC on the host: powersave is wanted (accepted p50
// 1.31×)".
func operatorNote(n drift.Note, on string) document.Note {
	return document.Note{Label: "note of " + units.Minute(n.Time) + on + ": ", Text: n.Text + acceptedText(n)}
}

// acceptedText returns the accepted levels in parentheses: " (accepted p50 1.31×)".
func acceptedText(n drift.Note) string {
	if text := Accepted(n); text != "" {
		return " (accepted " + text + ")"
	}
	return ""
}

// Accepted returns the levels that a note accepted: "p50 1.31×, p99 slow rounds in 56 % of blocks".
func Accepted(n drift.Note) string {
	var levels []string
	for _, s := range record.AllStatistics() {
		if r, ok := n.Ratios[s]; ok {
			levels = append(levels, s.Short()+" "+units.Ratio(r))
		}
		if share, ok := n.SlowShares[s]; ok {
			levels = append(levels, s.Short()+" slow rounds in up to "+units.Percent(share)+" of blocks")
		}
	}
	return strings.Join(levels, ", ")
}

// stateText describes a state: "regressed since 2026-05-04 10:42 UTC (2 h ago), 1.31× (1.27× to 1.36×)".
func stateText(s drift.StatisticExplanation, now time.Time) string {
	text := fmt.Sprintf("%s since %s (%s)", s.State, units.Minute(s.Since), units.Ago(s.Since, now))
	if s.Ratio > 0 {
		text += ", " + units.RatioWithin(s.Ratio, s.Lower, s.Upper)
	}
	return text
}

func statisticBlocks(x drift.Explanation, i int, s drift.StatisticExplanation) []document.Block {
	blocks := []document.Block{document.Sentence(why(x, i, s))}
	if changed := record.ChangedWith(s.Attribution); changed != "" {
		blocks = append(blocks, document.Sentence(changed))
	}
	if len(x.Recent) > 0 {
		ratios := make([]float64, len(x.Recent))
		for k, b := range x.Recent {
			ratios[k] = b.Ratios[i]
		}
		if !slices.ContainsFunc(ratios, func(r float64) bool { return r > 0 }) {
			return blocks // nothing was compared
		}
		bars, _, _ := plot.Bars(ratios)
		known := slices.DeleteFunc(ratios, func(r float64) bool { return r <= 0 })
		between, high := units.Ratio(slices.Min(known)), units.Ratio(slices.Max(known))
		if high != between {
			between += " to " + high
		}
		blocks = append(blocks, document.List("", fmt.Sprintf("%s  the last %s, %s", bars, units.Plural(len(x.Recent), "block"), between)))
	}
	if s.NoiseUpper > 0 {
		blocks = append(blocks, document.Sentence(normalText(s)))
	}
	if len(s.Expected) > 0 {
		blocks = append(blocks, document.List("recurs at about: ", expectedTexts(s.Expected)...))
	}
	if s.Others > 0 {
		blocks = append(blocks, document.Sentence(hostPartText(s)))
	}
	return append(blocks, evidence(s.Evidence)...)
}

// expectedTexts say when slowdowns recur: "each day 21:30 to 00:15 UTC, up to 1.60× slower".
func expectedTexts(list []drift.Expected) []string {
	texts := make([]string, len(list))
	for i, e := range list {
		when := "each day"
		if e.Every == drift.EveryWeek {
			when = "each " + e.From.UTC().Weekday().String()
		}
		const clock = "15:04"
		texts[i] = fmt.Sprintf("%s %s to %s UTC, up to %s slower", when, e.From.UTC().Format(clock), e.To.UTC().Format(clock), units.Ratio(e.Ratio))
	}
	return texts
}

// evidence returns a table of the CUSUMs that are not zero, each with the threshold at which it raises an alarm.
func evidence(list []drift.Evidence) []document.Block {
	if len(list) == 0 {
		return nil
	}
	t := document.Table{Names: []string{"evidence for", "CUSUM", "threshold", "since"}, Align: "lrrl"}
	low, high := list[0].Threshold, list[0].Threshold
	for _, e := range list {
		low, high = min(low, e.Threshold), max(high, e.Threshold)
		if e.Value > 0 {
			t.Add(evidenceName(e), tenth(e.Value), tenth(e.Threshold), units.Minute(e.Since))
		}
	}
	if len(t.Rows) == 0 {
		return []document.Block{document.Sentence(
			fmt.Sprintf("evidence: all %s are 0; their thresholds are %s to %s", units.Plural(len(list), "CUSUM"), tenth(low), tenth(high)))}
	}
	return []document.Block{t}
}

// tenth formats a value with one decimal, because evidence is not more accurate.
func tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// evidenceName names the hypothesis of a CUSUM: "slower, about 8 %".
func evidenceName(e drift.Evidence) string {
	if e.Ratio == 0 {
		return e.For
	}
	return fmt.Sprintf("%s, about %.0f %%", e.For, 100*(e.Ratio-1))
}

// normalText describes what is normal according to the baseline.
func normalText(s drift.StatisticExplanation) string {
	text := fmt.Sprintf("normal: blocks between %s and %s of the baseline at the same load", units.Ratio(s.NoiseLower), units.Ratio(s.NoiseUpper))
	if n := len(s.Load); n > 1 {
		last := s.Load[n-1]
		text += fmt.Sprintf("; %s at %s load", units.Ratio(last.Ratio), units.Percent(last.Utilisation))
	}
	if s.Autocorrelation >= 1.05 {
		text += fmt.Sprintf("; evidence takes %s times as long, because each block resembles the one before it (autocorrelation)", units.Number(s.Autocorrelation))
	}
	return text
}
