package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Explained is what is behind the states of a target's probes.
type Explained struct {
	Time     time.Time        `json:"time"`
	Node     string           `json:"node"`
	TargetID string           `json:"target_id"`
	Path     string           `json:"path"`
	Device   string           `json:"device,omitempty"`
	Probes   []ProbeExplained `json:"probes"`
}

// ProbeExplained is what is behind the states of one probe.
type ProbeExplained struct {
	Probe string `json:"probe"`
	drift.Explanation
}

// Explain writes for each probe what its baseline is, how the recent blocks compare
// with it, how much evidence there is for a drift, and why that is an alarm or none.
func Explain(w io.Writer, x Explained) error {
	var p page
	p.sentence("", fmt.Sprintf("%s (id %s) on %s, %s", x.Path, x.TargetID, x.Node, units.Time(x.Time)))
	for _, probe := range x.Probes {
		p.blank()
		p.explainProbe(probe, x.Time)
	}
	if len(x.Probes) == 0 {
		p.line("No probe runs here, and nothing is stored of one.")
	}
	return p.writeTo(w, "explanation")
}

func (p *page) explainProbe(x ProbeExplained, now time.Time) {
	if x.Maturity == "" {
		p.sentence(clean(x.Probe)+": ", fmt.Sprintf("no baseline under the current conditions yet, %s so far", units.Plural(x.Rounds, "round")))
		p.list("  conditions: ", conditionsList(x.Conditions))
		return
	}
	p.sentence(clean(x.Probe)+": ", baselineText(x.Explanation))
	p.list("  conditions: ", conditionsList(x.Conditions))
	if x.Effect != nil {
		p.effect("  ", x.Effect)
	}
	if x.UnjudgedBlocks > 0 {
		p.sentence("  ", fmt.Sprintf("%s of five minutes not judged: more load from others than the baseline has seen", units.Plural(x.UnjudgedBlocks, "block")))
	}
	for _, n := range x.Notes {
		p.sentence("  note of "+units.Time(n.Time)+": ", n.Text+acceptedText(n))
	}
	for i, s := range x.Statistics {
		p.blank()
		p.explainStatistic(x.Explanation, i, s, now)
	}
}

// baselineText is "final baseline of 2 880 rounds in 288 blocks of five minutes,
// under 0 to 43 % load from others".
func baselineText(x drift.Explanation) string {
	text := fmt.Sprintf("%s baseline of %s", x.Maturity, units.Plural(x.Rounds, "round"))
	if x.Blocks > 0 {
		text += fmt.Sprintf(" in %s of five minutes", units.Plural(x.Blocks, "block"))
	}
	return text + fmt.Sprintf(", under %.0f to %s load from others", 100*x.MinLoad, units.Percent(x.MaxLoad))
}

// acceptedText is " (accepted p50 1.31×)".
func acceptedText(n drift.Note) string {
	var levels []string
	for _, s := range record.Statistics() {
		if r, ok := n.Ratios[s]; ok {
			levels = append(levels, s.Short()+" "+units.Ratio(r))
		}
	}
	if len(levels) == 0 {
		return ""
	}
	return " (accepted " + strings.Join(levels, ", ") + ")"
}

func (p *page) explainStatistic(x drift.Explanation, i int, s drift.StatisticExplanation, now time.Time) {
	head := fmt.Sprintf("  %-4s  %s since %s (%s)", s.Statistic.Short(), s.State, units.Time(s.Since), units.Ago(s.Since, now))
	if s.Ratio > 0 {
		head += ", " + ratioText(s.Drift)
	}
	p.line(head)
	p.sentence("        ", why(x, i, s))
	if len(s.Attribution) > 0 {
		p.list("        because ", changesList(s.Attribution))
	}
	if bars, low, high := recentBars(x.Recent, i); bars != "" {
		p.line(fmt.Sprintf("        %s  the last %s, %s to %s", bars, units.Plural(len(x.Recent), "block"), units.Ratio(low), units.Ratio(high)))
	}
	if s.NoiseUpper > 0 {
		p.sentence("        ", normalText(s))
	}
	p.evidence(s.Evidence)
}

// evidence writes the CUSUMs that are not zero, each with the threshold at which it alarms.
func (p *page) evidence(list []drift.Evidence) {
	if len(list) == 0 {
		return
	}
	g := grid{header: [][]string{{"evidence for", "CUSUM", "threshold", "since"}}, align: "lrrl", indent: "        "}
	low, high := list[0].Threshold, list[0].Threshold
	for _, e := range list {
		low, high = min(low, e.Threshold), max(high, e.Threshold)
		if e.Value > 0 {
			g.rows = append(g.rows, gridRow{cells: []string{evidenceName(e), tenth(e.Value), tenth(e.Threshold), units.Time(e.Since)}})
		}
	}
	if len(g.rows) == 0 {
		p.line(fmt.Sprintf("        evidence: all %s are 0; their thresholds are %s to %s", units.Plural(len(list), "CUSUM"), tenth(low), tenth(high)))
		return
	}
	p.grid(g)
}

// tenth writes one decimal: evidence is not known any better.
func tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// evidenceName is "slower, about 8 %".
func evidenceName(e drift.Evidence) string {
	if e.Ratio == 0 {
		return e.For
	}
	return fmt.Sprintf("%s, about %.0f %%", e.For, 100*(e.Ratio-1))
}

// normalText says what is normal according to the baseline.
func normalText(s drift.StatisticExplanation) string {
	text := fmt.Sprintf("normal: blocks from %s to %s of the baseline at their load", units.Ratio(s.NoiseLower), units.Ratio(s.NoiseUpper))
	if n := len(s.Load); n > 1 {
		last := s.Load[n-1]
		text += fmt.Sprintf("; %s at %s load", units.Ratio(last.Ratio), units.Percent(last.Utilisation))
	}
	if s.Autocorrelation >= 1.05 {
		text += fmt.Sprintf("; evidence takes %s times as long, because blocks resemble those before them (autocorrelation)", units.Number(s.Autocorrelation))
	}
	return text
}

// recentBars draws how many times slower than the baseline the recent blocks were
// on statistic i, with the range that the lowest and the highest bar stand for.
func recentBars(recent []drift.Block, i int) (bars string, low, high float64) {
	if len(recent) == 0 {
		return "", 0, 0
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, b := range recent {
		low, high = min(low, b.Ratios[i]), max(high, b.Ratios[i])
	}
	// Below a tenth, noise would fill the whole plot.
	if least := 1.1; high/low < least {
		middle := math.Sqrt(high * low)
		low, high = middle/math.Sqrt(least), middle*math.Sqrt(least)
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	for _, b := range recent {
		part := math.Log(b.Ratios[i]/low) / math.Log(high/low)
		bars += string(steps[max(0, min(len(steps)-1, int(part*float64(len(steps)))))])
	}
	return bars, low, high
}
