package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Text writes the report for people: what changed and when, a plot of each
// statistic against the baseline, and how things stand at the end.
func (r *Report) Text(w io.Writer) error {
	var b bytes.Buffer
	if r.Rounds == 0 {
		fmt.Fprintln(&b, "The history holds no round.")
		return write(w, &b)
	}
	fmt.Fprintf(&b, "%d rounds from %s to %s (%s)\n\n", r.Rounds, r.From, r.To, days(time.Time(r.To).Sub(time.Time(r.From))))
	told := false
	for _, l := range r.Lines {
		if text := l.text(); text != "" {
			fmt.Fprintln(&b, text)
			told = true
		}
	}
	if !told {
		fmt.Fprintln(&b, "Nothing has drifted.")
	}
	r.plotText(&b)
	r.nowText(&b)
	return write(w, &b)
}

func write(w io.Writer, b *bytes.Buffer) error {
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write the replay: %w", err)
	}
	return nil
}

// text tells a change in words. What is learned, and suspicion, are left out: the
// plot shows them.
func (l Line) text() string {
	name := l.Statistic.Short()
	switch {
	case l.Effect != nil && l.Effect.Ratio > 0:
		return fmt.Sprintf("%s  %-5s since %s: %s", l.Time, name, changeList(l.Attribution), *l.Effect)
	case l.State == record.Regressed || l.State == record.Improved:
		text := fmt.Sprintf("%s  %-5s %s since %s", l.Time, name, l.State, l.Since)
		if l.Cause == record.BySlowRounds {
			text += ": slow rounds have become common"
		} else {
			text += ": " + record.Ratio{Ratio: l.Ratio, Lower: l.Lower, Upper: l.Upper}.String()
		}
		if len(l.Attribution) > 0 {
			text += ", because " + changeList(l.Attribution)
		}
		return text
	}
	return ""
}

func (r *Report) plotText(b *bytes.Buffer) {
	if len(r.plot.columns) == 0 {
		return
	}
	fmt.Fprintf(b, "\nTimes slower than the baseline, load taken out; a column is %s; R regressed, I improved, ? suspect\n", days(r.plot.width))
	for i, s := range record.Statistics() {
		bars, marks, low, high := r.plot.line(i)
		fmt.Fprintf(b, "%-5s %s  %.2f to %.2f\n      %s\n", s.Short(), bars, low, high, strings.TrimRight(marks, " "))
	}
	fmt.Fprintf(b, "      from %s\n", Seconds(r.plot.from))
}

func (r *Report) nowText(b *bytes.Buffer) {
	n := r.Now
	if n.Maturity == "" {
		fmt.Fprintf(b, "\nAt the end: learning, %d rounds so far\n", n.Rounds)
		return
	}
	fmt.Fprintf(b, "\nAt the end: the baseline is %s, of %d rounds in %d blocks", n.Maturity, n.Rounds, n.Blocks)
	if n.UnjudgedBlocks > 0 {
		fmt.Fprintf(b, "; %d blocks were not judged, under more load than it has seen", n.UnjudgedBlocks)
	}
	fmt.Fprintln(b)
	for _, s := range n.Statistics {
		fmt.Fprintf(b, "%-5s %-9s %s\n", s.Statistic.Short(), s.State, record.Ratio{Ratio: s.Ratio, Lower: s.Lower, Upper: s.Upper})
	}
}

func changeList(list []record.Change) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
}

func days(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.1f hours", d.Hours())
	default:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
}
