package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Drift writes the findings and how each watched target compares with its baseline: per
// probe and statistic the state, the baseline's value, how many times slower now with the
// 95 % interval, and since when.
// While a baseline is being learned it says how far that is. Ages are counted
// from the time of the snapshot.
func Drift(w io.Writer, s record.Snapshot) error {
	var p page
	p.sentence("", driftHeadline(s))
	p.blank()
	p.findings(finding.Of(s), s.Time)
	if len(s.Targets) == 0 {
		p.line("Nothing is watched, so there is no drift to show.")
	}
	for i, target := range s.Targets {
		if i > 0 {
			p.blank()
		}
		p.driftOfTarget(target, s.Time)
	}
	return p.writeTo(w, "drift")
}

func driftHeadline(s record.Snapshot) string {
	compared, counts := 0, map[record.DriftState]int{}
	for _, target := range s.Targets {
		for _, probe := range target.Probes {
			for _, d := range probe.Drift {
				counts[d.State]++
				if d.State != record.Learning {
					compared++
				}
			}
		}
	}
	where := units.Time(s.Time)
	if s.Node != "" {
		where = s.Node + ", " + where
	}
	if compared == 0 {
		return "Drift on " + where + ": nothing compared yet"
	}
	text := fmt.Sprintf("Drift on %s: %s compared", where, units.Plural(compared, "statistic"))
	for _, state := range []record.DriftState{record.Regressed, record.Suspect, record.Improved, record.Stable} {
		if n := counts[state]; n > 0 {
			text += fmt.Sprintf(", %s %s", units.Count(n), state)
		}
	}
	return text
}

func (p *page) driftOfTarget(target record.TargetStatus, now time.Time) {
	p.list("", []string{targetText(target)})
	p.line("  id " + clean(target.ID))
	g := grid{
		header: [][]string{{"probe", "statistic", "state", "baseline", "times slower", "since"}},
		align:  "lllrrl", indent: "  ",
	}
	var without []record.ProbeStatus
	for _, probe := range target.Probes {
		rows := driftRows(probe, now)
		if len(rows) == 0 {
			without = append(without, probe)
		}
		g.rows = append(g.rows, rows...)
	}
	if len(g.rows) > 0 {
		p.grid(g)
	}
	for _, probe := range target.Probes {
		p.maturity(probe)
	}
	for _, probe := range without {
		p.sentence("  "+clean(probe.Probe.Name)+": ", notCompared(probe, now))
	}
	if len(target.Probes) == 0 {
		p.line("  No probe runs here.")
	}
	for _, r := range target.Runs {
		p.runVerdict(r)
	}
}

// runVerdict says how the last run of a suite compares with those before it.
func (p *page) runVerdict(r record.RunStatus) {
	text, changed := RunVerdict(r)
	if text == "" || r.Last == nil {
		return
	}
	p.sentence("  ", fmt.Sprintf("run of %s, %s: %s", r.Suite, units.Time(r.Last.Started), text))
	for _, figure := range changed {
		p.sentence("    ", figure)
	}
}

// driftRows returns a row per compared statistic, and none while all is learning.
func driftRows(probe record.ProbeStatus, now time.Time) []gridRow {
	var rows []gridRow
	name := probe.Probe.Name
	compared := slices.DeleteFunc(slices.Clone(probe.Drift), func(d record.Drift) bool { return d.State == record.Learning })
	for i, d := range compared {
		baseline := none
		if probe.Baseline != nil {
			if value, ok := probe.Baseline.Values[d.Statistic]; ok {
				baseline = Statistic(d.Statistic, value)
			}
		}
		row := gridRow{cells: []string{
			name, StatisticName(d.Statistic), string(d.State), baseline, ratioText(d),
			fmt.Sprintf("%s, %s", units.Time(d.Since), units.Ago(d.Since, now)),
		}}
		// Statistics of a probe mostly move together: their cause is told once for all. What
		// made a probe slower is with the findings.
		last := i == len(compared)-1 || !slices.Equal(d.Attribution, compared[i+1].Attribution)
		if last && d.State == record.Improved && len(d.Attribution) > 0 {
			row.below = func(p *page) { p.list("    because ", changesList(d.Attribution)) }
		}
		rows = append(rows, row)
		name = ""
	}
	return rows
}

// maturity says how mature the baseline of a probe is, and what the change of conditions
// before it did.
func (p *page) maturity(probe record.ProbeStatus) {
	b := probe.Baseline
	if b == nil || b.Maturity == "" {
		return
	}
	text := fmt.Sprintf("%s, of %s", b.Maturity, units.Plural(b.Rounds, "round"))
	if b.Pinned {
		text = "pinned, " + text
	}
	switch b.Maturity {
	case record.Early:
		text += "; until it covers two hours only large shifts are judged"
	case record.Provisional:
		text += "; until it covers a day only shifts beyond drift.threshold are judged"
	case record.Final:
	}
	if n := probe.UnjudgedBlocks; n > 0 {
		text += fmt.Sprintf("; %s of five minutes not judged, under more load than it has seen", units.Plural(n, "block"))
	}
	p.sentence("  ", "baseline of "+probe.Probe.Name+": "+text)
	for _, note := range effectNotes(probe.Effect) {
		p.list("    ", note.(document.Note).Items)
	}
}

// effectNotes say what a change of conditions did: "since firmware A → B: p50 18 % faster
// (16 to 20 %), …".
func effectNotes(e *record.Effect) []document.Block {
	if e == nil {
		return nil
	}
	var did []string
	for _, s := range record.Statistics() {
		if r, ok := e.Ratios[s]; ok {
			did = append(did, s.Short()+" "+r.String())
		}
	}
	if len(did) == 0 {
		return nil
	}
	did[0] = "since " + strings.Join(changesList(e.Changes), ", ") + ": " + did[0]
	return []document.Block{document.List("", did...)}
}

// ratioText is "1.31× (1.27 to 1.36)", the bounds where there are any.
func ratioText(d record.Drift) string {
	switch {
	case d.Ratio == 0:
		return none
	case d.Lower == 0 && d.Upper == 0:
		return units.Ratio(d.Ratio)
	default:
		return fmt.Sprintf("%s (%s to %s)", units.Ratio(d.Ratio), units.Ratio(d.Lower), units.Ratio(d.Upper))
	}
}

// notCompared says in words why a probe has no drift.
func notCompared(probe record.ProbeStatus, now time.Time) string {
	text := "no comparison yet"
	if probe.Baseline == nil || probe.Baseline.Learned.IsZero() {
		text = fmt.Sprintf("learning, %s of %s", units.Count(probe.LearningRounds), units.Plural(probe.LearningGoal, "round"))
	}
	last := probe.Last
	switch {
	case last == nil:
		return text + "; no round so far"
	case last.Outcome == record.OutcomeOK:
		return text
	case last.Reason == "":
		return fmt.Sprintf("%s; last round %s: %s", text, units.Ago(last.Start, now), last.Outcome)
	default:
		return fmt.Sprintf("%s; last round %s: %s, %s", text, units.Ago(last.Start, now), last.Outcome, last.Reason)
	}
}

// targetText names a target for a heading: "/dev/nvme0n1, SAMSUNG …, serial …".
func targetText(t record.TargetStatus) string {
	if about := DeviceText(t.Device); about != "" {
		return t.Path + ", " + about
	}
	return t.Path
}
