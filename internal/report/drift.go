package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Drift writes the verdict on each drive, the worst first, then the findings, and then how each watched target compares
// with its baseline. For each probe and statistic it shows the state, the baseline's value, the present value, and how
// many times slower that is with its 95 % interval. It also shows the time covered, since when the state holds, and why a
// statistic is not judged. While a baseline is being learned, it shows the progress. Ages are relative to the time of the
// snapshot.
func Drift(w io.Writer, s record.Snapshot) error {
	blocks := []document.Block{document.Sentence(driftHeadline(s)), document.Gap{}}
	blocks = append(blocks, healthBlocks(s)...)
	blocks = append(blocks, findingBlocks(finding.Of(s), s.Time)...)
	if len(s.Targets) == 0 {
		blocks = append(blocks, document.Sentence("Nothing is watched, so there is no drift to show."))
	}
	for _, h := range finding.HealthOf(s) { // the worst first
		i := slices.IndexFunc(s.Targets, func(t record.TargetStatus) bool { return t.ID == h.TargetID })
		blocks = append(blocks, document.Gap{}, driftOfTarget(s.Targets[i], s.Time))
	}
	return text.Write(w, "drift", blocks...)
}

func driftHeadline(s record.Snapshot) string {
	compared, unprobed, counts := 0, 0, map[record.DriftState]int{}
	for _, target := range s.Targets {
		if target.Problem != "" || len(target.Probes) == 0 {
			unprobed++
		}
		for _, probe := range target.Probes {
			for _, d := range probe.Drift {
				counts[d.State]++
				if d.State.Judged() {
					compared++
				}
			}
		}
	}
	where := units.UTC(s.Time)
	if s.Node != "" {
		where = s.Node + ", " + where
	}
	text := fmt.Sprintf("Drift on %s: %s compared", where, units.Plural(compared, "statistic"))
	if compared == 0 {
		text = "Drift on " + where + ": nothing is compared now"
	}
	for _, state := range []record.DriftState{
		record.Regressed, record.Suspect, record.Improved, record.Stable, record.Unknown, record.Waiting, record.Learning,
	} {
		if n := counts[state]; n > 0 {
			text += fmt.Sprintf(", %s %s", units.Count(n), string(state))
		}
	}
	if unprobed > 0 {
		text += fmt.Sprintf("; %d of %s not probed", unprobed, units.Plural(len(s.Targets), "target"))
	}
	return text
}

// effectBlocks says what changes of conditions did: earlier ones that still make the target slower, the last one, and all together.
func effectBlocks(indent string, earlier []record.Effect, last *record.Effect, lifetime map[record.Statistic]record.Lifetime) []document.Block {
	var blocks []document.Block
	for _, e := range earlier {
		blocks = append(blocks, document.List(indent, e.Words()...))
	}
	if words := last.Words(); len(words) > 0 {
		blocks = append(blocks, document.List(indent, words...))
	}
	if words := LifetimeWords(lifetime); len(words) > 0 {
		blocks = append(blocks, document.List(indent, words...))
	}
	return blocks
}

// LifetimeWords says what all changes of conditions did together: "all changes since 2026-05-04 11:02 UTC: p50 18 % slower (16 to 20
// %)" and "IOPS …". It returns none when they did nothing.
func LifetimeWords(lifetime map[record.Statistic]record.Lifetime) []string {
	var words []string
	var since time.Time
	for _, s := range record.AllStatistics() {
		l, known := lifetime[s]
		if !known || units.Ratio(l.Ratio.Ratio) == units.Ratio(1) {
			continue
		}
		text := s.Short() + " " + l.String()
		if !l.Since.Equal(since) {
			since = l.Since
			text = "all changes since " + units.Minute(since) + ": " + text
		}
		words = append(words, text)
	}
	return words
}

func driftOfTarget(target record.TargetStatus, now time.Time) document.Section {
	s := document.Section{Title: targetText(target), Blocks: []document.Block{document.List("id ", target.ID)}}
	t := document.Table{Names: []string{"probe", "statistic", "state", "baseline", "now", "times slower", "over", "since"}, Align: "lllrrrll", Spare: []string{"over", "now", "baseline"}}
	var about, without []document.Block
	for _, probe := range target.Probes {
		rows := driftRows(probe, now)
		t.Rows = append(t.Rows, rows...)
		if baseline := BaselineText(probe); baseline != "" {
			about = append(about, document.Note{Label: probe.Probe.Name + ": ", Text: baseline})
			about = append(about, effectBlocks("  ", probe.Earlier, probe.Effect, probe.Lifetime)...)
		}
		if len(rows) == 0 {
			without = append(without, document.Note{Label: probe.Probe.Name + ": ", Text: notCompared(probe, now)})
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	s.Blocks = append(append(s.Blocks, about...), without...)
	if len(target.Probes) == 0 {
		s.Blocks = append(s.Blocks, document.Sentence("No probe runs here."))
	}
	for _, r := range target.Runs {
		s.Blocks = append(s.Blocks, verdictBlocks(r)...)
	}
	return s
}

// verdictBlocks describes how the last run of a suite compares with those before it.
func verdictBlocks(r record.RunStatus) []document.Block {
	text, changed := RunVerdict(r)
	if text == "" || r.Last == nil {
		return nil
	}
	var figures document.Section
	for _, figure := range changed {
		figures.Blocks = append(figures.Blocks, document.Sentence(figure))
	}
	return []document.Block{document.Sentence(fmt.Sprintf("run of %s, %s: %s", r.Suite, units.Minute(r.Last.Started), text)), figures}
}

// driftRows returns a row per compared statistic, and none while all are being learned.
func driftRows(probe record.ProbeStatus, now time.Time) []document.Row {
	var rows []document.Row
	name := probe.Probe.Name
	compared := slices.DeleteFunc(slices.Clone(probe.Drift), func(d record.Drift) bool { return d.State == record.Learning })
	var unjudged []string
	for i, d := range compared {
		baseline := none
		if probe.Baseline != nil {
			if value, ok := probe.Baseline.Values[d.Statistic]; ok {
				baseline = Statistic(d.Statistic, value)
			}
		}
		row := document.Row{Cells: []string{
			name, d.Statistic.Short(), string(d.State), baseline, nowText(d), cmp.Or(units.RatioWithin(d.Ratio, d.Lower, d.Upper), none),
			cmp.Or(OverText(d, now), none),
			units.Ago(d.Since, now),
		}}
		// The statistics of a probe mostly move together, so their common cause is shown once. What made a probe slower
		// is shown with the findings.
		last := i == len(compared)-1 || !slices.Equal(d.Attribution, compared[i+1].Attribution)
		if last && d.State == record.Improved && len(d.Attribution) > 0 {
			row.Notes = []document.Block{document.Sentence(record.ChangedWith(d.Attribution))}
		}
		if u := d.Unjudged; u != nil {
			unjudged = append(unjudged, d.Statistic.Short())
			if i == len(compared)-1 || !sameReason(u, compared[i+1].Unjudged) {
				row.Notes = append(row.Notes, document.Sentence(strings.Join(unjudged, ", ")+" not judged: "+u.String()))
				unjudged = nil
			}
		}
		rows = append(rows, row)
		name = ""
	}
	return rows
}

func sameReason(a, b *record.WhyUnjudged) bool {
	return b != nil && a.Reason == b.Reason && a.Detail == b.Detail
}

// nowText returns the present value of the statistic, over the same time as its ratio.
func nowText(d record.Drift) string {
	if d.Now == 0 {
		return none
	}
	return Statistic(d.Statistic, d.Now)
}

// OverText returns the time that the ratio, its bounds and the present value of a statistic cover: "last 58 min", or "1
// h, ended 3 h ago" when that is a while ago. It is empty when there is none.
func OverText(d record.Drift, now time.Time) string {
	const recent = 15 * time.Minute
	switch {
	case d.Over == nil:
		return ""
	case now.Sub(d.Over.To) < recent:
		past := now.Sub(d.Over.From)
		if past < time.Minute {
			return "last " + units.Span(past.Round(time.Second))
		}
		return "last " + units.Span(past.Truncate(time.Minute))
	default:
		return units.Span(d.Over.Length()) + ", ended " + units.Ago(d.Over.To, now)
	}
}

// BaselineText describes the maturity of a probe's baseline: "final baseline of 2 880 rounds"; empty while there is none.
func BaselineText(probe record.ProbeStatus) string {
	b := probe.Baseline
	if b == nil || b.Maturity == "" {
		return ""
	}
	text := fmt.Sprintf("%s baseline of %s", b.Maturity, units.Plural(b.Rounds, "round"))
	if b.Pinned {
		text = "pinned " + text
	}
	switch b.Maturity {
	case record.Early:
		text += "; until it covers two hours only large shifts are judged"
	case record.Provisional:
		text += "; until it covers a day only shifts beyond drift.threshold are judged"
	case record.Final:
	}
	if unjudged := UnjudgedText(probe.UnjudgedBlocks); unjudged != "" {
		text += "; " + unjudged
	}
	return text
}

// UnjudgedText says how many blocks were not judged, and why; empty for none.
func UnjudgedText(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return units.Plural(blocks, "block") + " not judged: the baseline had not seen such load from others"
}

// LearningText describes the progress of a baseline: "learning, 12 of 120 rounds, about 54 min more", and how many
// rounds of this daemon were good. The progress is older than the daemon.
func LearningText(probe record.ProbeStatus) string {
	text := fmt.Sprintf("learning, %s of %s", units.Count(probe.LearningRounds), units.Plural(probe.LearningGoal, "round"))
	var all uint64
	for _, n := range probe.Rounds {
		all += n
	}
	good := probe.Rounds[record.OutcomeOK]
	if left := probe.LearningGoal - probe.LearningRounds; good > 0 && left > 0 {
		more := time.Duration(float64(probe.Probe.Interval) * float64(left) * float64(all) / float64(good))
		if more > time.Minute {
			more = more.Round(time.Minute)
		}
		text += ", about " + units.Span(more) + " more"
	}
	if good < all {
		text += fmt.Sprintf("; %s of %s since the start were good", units.Count(good), units.Plural(all, "round"))
	}
	return text
}

// notCompared says why a probe has no drift.
func notCompared(probe record.ProbeStatus, now time.Time) string {
	text := "no comparison yet"
	if probe.Baseline == nil || probe.Baseline.Learned.IsZero() {
		text = LearningText(probe)
	}
	last := probe.Last
	switch {
	case last == nil && probe.LearningRounds > 0: // those were of an earlier daemon
		return text
	case last == nil:
		return text + "; no round so far"
	case last.Outcome == record.OutcomeOK && !last.Loaded:
		return text
	case last.Reason == "":
		return fmt.Sprintf("%s; last round %s: %s", text, units.Ago(last.Start, now), last.OutcomeText())
	default:
		return fmt.Sprintf("%s; last round %s: %s, %s", text, units.Ago(last.Start, now), last.OutcomeText(), last.Reason)
	}
}

// targetText returns a target's heading: "/dev/nvme0n1, SAMSUNG …, serial …".
func targetText(t record.TargetStatus) string {
	if about := DeviceText(t.Device); about != "" {
		return t.Path + ", " + about
	}
	return t.Path
}
