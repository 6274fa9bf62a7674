package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// drive describes how the drive was judged as a whole.
func (x Explained) drive() []document.Block {
	var blocks []document.Block
	if x.Verdict != nil {
		blocks = append(blocks, document.Gap{}, document.Note{Label: "verdict: ", Text: DriveVerdict(*x.Verdict, units.UTC)})
	}
	for _, t := range x.Together {
		blocks = append(blocks, document.Note{Label: string(t.Scope) + ": ", Text: togetherText(t, x.TargetID)})
	}
	for _, n := range x.HostNotes {
		blocks = append(blocks, operatorNote(n, " on the host"))
	}
	return append(blocks, besideBlocks(x.Beside)...)
}

// togetherText describes a slowdown of several drives: "6 of 6 drives, this one included, are slower since …: read-4k p50
// 1.20× (1.15× to 1.25×), changed with it: kernel 6.1 → 6.8".
func togetherText(t record.Together, id string) string {
	included := "not this one"
	if slices.Contains(t.Drives, id) {
		included = "this one included"
	}
	text := fmt.Sprintf("%d of %d drives, %s, are slower since %s: %s %s %s%s", len(t.Drives), t.Of, included, units.Minute(t.Since), t.Source, t.Statistic.Short(),
		units.RatioWithin(t.Ratio.Ratio, t.Ratio.Lower, t.Ratio.Upper), t.LastCompared())
	if changed := record.ChangedWith(t.Attribution); changed != "" {
		text += ", " + changed
	}
	return text
}

// besideBlocks returns a table that compares the drive with its peers, and the list of peers.
func besideBlocks(list []record.Beside) []document.Block {
	if len(list) == 0 {
		return nil
	}
	differs := func(b record.Beside) bool { return b.Unjudged != list[0].Unjudged || b.Far || b.Accepted != 0 }
	if list[0].Unjudged != "" && !slices.ContainsFunc(list, differs) {
		return []document.Block{document.Gap{}, document.Sentence("beside its peers: not judged: " + list[0].Unjudged)}
	}
	t := document.Table{Names: []string{"beside its peers", "statistic", "rank (1 is the fastest)", "against their median", "limit", "verdict"}, Align: "llrrrl"}
	var peers []string
	for _, b := range list {
		if b.Unjudged != "" && !b.Far {
			t.Add(b.Source, b.Statistic.Short(), "", "", "", "not judged: "+b.Unjudged+acceptedBeside(b))
			continue
		}
		place, limit := "", ""
		if b.Unjudged == "" {
			place, limit = fmt.Sprintf("%d of %d", b.Place, b.Of+1), units.Ratio(b.Limit)
		}
		t.Add(b.Source, b.Statistic.Short(), place, units.Ratio(b.Ratio), limit, besideText(b))
		if len(b.Peers) > len(peers) {
			peers = b.Peers
		}
	}
	blocks := []document.Block{document.Gap{}, t}
	if len(peers) > 0 {
		blocks = append(blocks, document.List(fmt.Sprintf("compared with %s: ", units.Plural(len(peers), "drive")), peers...))
	}
	return blocks
}

func besideText(b record.Beside) string {
	text := "not far slower"
	if b.Far {
		text = "far slower since " + units.Minute(b.Since)
	}
	text += acceptedBeside(b)
	if len(b.OnlyHere) > 0 {
		text += "; only here: " + strings.Join(b.OnlyHere, ", ")
	}
	if b.Unjudged != "" {
		text += "; not compared now: " + b.Unjudged
	}
	return text
}

// acceptedBeside returns the accepted ratio and the note: "; 1.40× was accepted: the slow slot".
func acceptedBeside(b record.Beside) string {
	if b.Accepted == 0 {
		return ""
	}
	return fmt.Sprintf("; %s was accepted: %s", units.Ratio(b.Accepted), b.Note)
}

// workBlocks describes the present load of others on the drive, and how busy that load should make it.
func workBlocks(x drift.Explanation) []document.Block {
	w := x.Work
	if w == nil {
		return nil
	}
	if w.Others == nil {
		return []document.Block{document.Sentence(fmt.Sprintf("load from others now: %s; their I/O is not counted", units.Percent(w.Utilisation)))}
	}
	text := fmt.Sprintf("work of others now: %s reads and %s writes a second, %s and %s; ",
		units.IOPS(w.Others.Reads), units.IOPS(w.Others.Writes), units.Bandwidth(w.Others.ReadBytes), units.Bandwidth(w.Others.WrittenBytes))
	switch {
	case !w.Modelled:
		text += fmt.Sprintf("%s busy; the cost of this work is not learned yet", units.Percent(w.Utilisation))
	default:
		text += fmt.Sprintf("a healthy drive would be %s busy with it, this one is %s busy", units.Percent(w.Load), units.Percent(w.Utilisation))
	}
	if !w.Seen {
		text += "; the baseline has not seen such a load"
	}
	return []document.Block{document.Sentence(text)}
}

// hostPartText says how much of the slowdown belongs to the host.
func hostPartText(s drift.StatisticExplanation) string {
	return fmt.Sprintf("host: the other drives are at %s of their usual level; the ratio of this one was divided by %s for it", units.Ratio(s.Others), units.Ratio(s.Host))
}
