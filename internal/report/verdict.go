package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// DriveVerdict returns a verdict in words: "degraded: 40 % slower (36 to 44 %) than its 11 peers, since …, by
// its probes and traffic". moment writes times.
func DriveVerdict(v record.Judgement, moment func(time.Time) string) string {
	if detail := VerdictDetail(v, moment); detail != "" {
		return string(v.Verdict) + ": " + detail
	}
	return string(v.Verdict)
}

// DriveState returns the state of a drive in words: "degraded: 40 % slower (36 to 44 %) than its 11 peers, since …", "hung". moment
// writes times.
func DriveState(h finding.Health, moment func(time.Time) string) string {
	if detail := stateDetail(h, moment); detail != "" {
		return string(h.State) + ": " + detail
	}
	return string(h.State)
}

// stateDetail returns what the state of a drive is based on; empty when only its findings say that, or nothing is wrong.
func stateDetail(h finding.Health, moment func(time.Time) string) string {
	if h.State == finding.StateHung || h.State == finding.StateHeldBack {
		return ""
	}
	return cmp.Or(h.Partly, VerdictDetail(h.Judgement, moment))
}

// VerdictDetail returns what a verdict is based on; empty when nothing is wrong. moment writes times.
func VerdictDetail(v record.Judgement, moment func(time.Time) string) string {
	if v.Verdict == record.Unjudged {
		return v.Unjudged.String()
	}
	var parts []string
	if v.Ratio.Ratio > 0 {
		parts = append(parts, v.Ratio.String()+than(v)+lastCompared(v, moment))
	}
	all := troubles(v)
	parts = append(parts, all[0].words(moment)...)
	if v.Scope == record.ScopeBatch {
		parts = append(parts, "together with others")
	}
	if changed := record.ChangedWith(v.Attribution); changed != "" {
		parts = append(parts, changed)
	}
	text := strings.Join(parts, ", ")
	for _, t := range all[1:] {
		text += "; " + strings.Join(t.words(moment), ", ")
	}
	if v.Held {
		now := "better now"
		if v.Unjudged != nil {
			now = "not judged now"
		}
		text += ", " + now + "; the verdict is held, because the trouble came back within a week"
	}
	return text
}

// trouble is a part of a verdict with an onset of its own.
type trouble struct {
	since     time.Time
	witnesses []string
}

// troubles returns that the drive is slow, if it is, and then each other trouble. There is at least one.
func troubles(v record.Judgement) []trouble {
	if len(v.Onsets) == 0 { // as in the state of an older version
		return []trouble{{v.Since, v.Witnesses}}
	}
	slow, others := trouble{since: v.SlowSince()}, []trouble(nil)
	for _, w := range v.Witnesses {
		if record.OfSpeed(w) {
			slow.witnesses = append(slow.witnesses, w)
		} else {
			others = append(others, trouble{v.Onset(w), []string{w}})
		}
	}
	if len(others) > 0 && len(slow.witnesses) == 0 && v.Ratio.Ratio == 0 {
		return others
	}
	return append([]trouble{slow}, others...)
}

func (t trouble) words(moment func(time.Time) string) (words []string) {
	if !t.since.IsZero() {
		words = append(words, "since "+moment(t.since))
	}
	if len(t.witnesses) > 0 {
		words = append(words, "by its "+strings.Join(t.witnesses, " and "))
	}
	return words
}

// than says what a slower drive was compared with. The ratio is that of the worst witness.
func than(v record.Judgement) string {
	peers := false
	for _, w := range v.Witnesses {
		peers = peers || record.OfSpeed(w) && !slices.Contains(v.ThanBefore, w)
	}
	switch {
	case v.Ratio.Ratio <= 1:
		return ""
	case peers && len(v.ThanBefore) > 0:
		return " than before or than " + peersText(v)
	case peers:
		return " than " + peersText(v)
	case len(v.ThanBefore) > 0:
		return " than before"
	}
	return ""
}

// lastCompared says when the ratio was measured if nothing has been compared lately, and why not.
func lastCompared(v record.Judgement, moment func(time.Time) string) string {
	switch {
	case v.Unjudged == nil:
		return ""
	case v.Unjudged.Since.IsZero():
		return fmt.Sprintf(" when last compared (%s)", v.Unjudged)
	}
	return fmt.Sprintf(" when last compared, %s (%s)", moment(v.Unjudged.Since), v.Unjudged)
}

// peersText returns "its 11 peers", or "its peers" when their number is not known.
func peersText(v record.Judgement) string {
	if v.Peers > 0 {
		return "its " + units.Plural(v.Peers, "peer")
	}
	return "its peers"
}

// healthBlocks returns a line for each drive, the worst first, and one for the host.
func healthBlocks(s record.Snapshot) []document.Block {
	t := document.Table{Names: []string{"drive", "verdict", ""}, Align: "lll"}
	for _, h := range finding.HealthOf(s) {
		t.Add(h.Path, string(h.State), stateDetail(h, units.UTC))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	if s.Host != nil {
		t.Add("host", string(s.Host.Verdict), VerdictDetail(*s.Host, units.UTC))
	}
	return []document.Block{t, document.Gap{}}
}
