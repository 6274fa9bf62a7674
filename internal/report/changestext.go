package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Text writes the runs, what differs in their conditions, and then for each run what
// changed since the first one. "~" is a change within the spread.
func (c Changes) Text(w io.Writer) error {
	var p page
	for i, r := range c.Runs {
		p.sentence(letter(i)+"  ", fmt.Sprintf("%s: %s on %s, %s, %s", r.Name, r.Suite, r.Target, r.Node, Time(r.Started)))
		p.warnings("   ", r.Warnings)
	}
	p.blank()
	p.differences(c)
	for _, against := range c.Against {
		p.blank()
		p.changes(c, against)
	}
	return p.writeTo(w, "comparison")
}

// letter is how a run is called: A, B, …, and by number when the letters are used up.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

func (p *page) differences(c Changes) {
	if len(c.Conditions) == 0 {
		p.line("The conditions are the same.")
		return
	}
	p.line("What differs besides the figures, and may explain them:")
	g := grid{header: [][]string{{""}}, align: "l", indent: "  "}
	for i := range c.Runs {
		g.header[0] = append(g.header[0], letter(i))
		g.align += "l"
	}
	for _, d := range c.Conditions {
		cells := []string{record.ConditionTitle(d.Condition)}
		for _, v := range d.Values {
			cells = append(cells, orUnknown(v))
		}
		g.rows = append(g.rows, gridRow{cells: cells})
	}
	p.grid(g)
}

func (p *page) changes(c Changes, against RunChanges) {
	from, to := letter(0), letter(against.Run)
	p.sentence("", against.headline(from, to))
	p.notCompared(against.NotCompared)
	if len(against.Loads) == 0 {
		return
	}
	g := grid{header: [][]string{{"", "", from, to, "change", "95 % interval", ""}}, align: "llrrrrl", indent: "  "}
	previous := ""
	for _, l := range against.Loads {
		direction := l.Direction
		for i, f := range l.Figures {
			row := gridRow{cells: append([]string{direction}, f.cells()...)}
			direction = ""
			if i == 0 && l.Load != previous {
				row.above = func(p *page) {
					p.sentence("", l.heading())
					p.warnings("    ", l.Warnings)
				}
			}
			g.rows = append(g.rows, row)
		}
		previous = l.Load
	}
	p.blank()
	p.grid(g)
	p.blank()
	p.sentence("~ ", fmt.Sprintf("within the spread of the repeats; without repeats on both sides there is no interval, and less than %s is \"~\".", Percent(c.Threshold)))
}

// notCompared writes what was left out, a list for each reason.
func (p *page) notCompared(all []UnmatchedFigures) {
	var order []string
	loads := map[string][]string{}
	for _, u := range all {
		if loads[u.Reason] == nil {
			order = append(order, u.Reason)
		}
		loads[u.Reason] = append(loads[u.Reason], joined(u.Step, u.Direction))
	}
	for _, reason := range order {
		p.list("  not compared, "+clean(reason)+": ", loads[reason])
	}
}

func (l LoadChange) heading() string {
	text := l.Load
	if l.Plan != "" {
		text += ": " + l.Plan
	}
	if l.FromRepeats > 1 || l.ToRepeats > 1 {
		text += fmt.Sprintf(", %d and %d repeats", l.FromRepeats, l.ToRepeats)
	}
	return text
}

// headline is the verdict in words with the figure that is furthest off.
func (r RunChanges) headline(from, to string) string {
	counted, beyond := 0, 0
	worst, furthest := "", 0.0
	for _, l := range r.Loads {
		for _, f := range l.Figures {
			counted++
			if !f.Counts || f.Verdict != r.Verdict {
				continue
			}
			beyond++
			if off := math.Abs(math.Log(f.Ratio.Value)); off > furthest {
				furthest = off
				worst = fmt.Sprintf("%s %s %s", joined(l.Load, l.Direction), f.Figure, changeText(f.Ratio.Value))
			}
		}
	}
	switch r.Verdict {
	case Slower:
		return fmt.Sprintf("%s is SLOWER than %s: %d of %s, most of all %s", to, from, beyond, plural(counted, "figure"), worst)
	case Faster:
		return fmt.Sprintf("%s is faster than %s: %d of %s, most of all %s", to, from, beyond, plural(counted, "figure"), worst)
	case Same:
		return fmt.Sprintf("%s is as fast as %s: no change that counts in %s", to, from, plural(counted, "figure"))
	case Incomplete:
	}
	return fmt.Sprintf("Nothing of %s could be compared with %s", to, from)
}

// cells are the figure's name, both values in one unit, the change and what it means.
func (f FigureChange) cells() []string {
	from, to := IOPS(f.From), IOPS(f.To)
	if f.Figure != "IOPS" {
		a, b := seconds(f.From), seconds(f.To)
		unit := units.LatencyUnitFor(min(a, b))
		from, to = unit.Format(a)+" "+unit.Name, unit.Format(b)+" "+unit.Name
	}
	change, verdict := changeText(f.Ratio.Value), string(f.Verdict)
	if f.Verdict == Same {
		verdict = "~"
	} else if !f.Counts {
		verdict += ", does not count"
	}
	return []string{f.Figure, from, to, change, intervalText(f.Ratio, changeText), verdict}
}

// changeText writes a ratio as a change: "-25 %", "+3.2 %".
func changeText(ratio float64) string {
	text := Percent(math.Abs(ratio - 1))
	switch {
	case text == "0.0 %":
		return text
	case ratio < 1:
		return "-" + text
	default:
		return "+" + text
	}
}

// CSV writes a row per figure for spreadsheets; changes are in percent.
func (c Changes) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"from_file", "to_file", "from_started", "to_started", "conditions_changed", "load", "plan", "direction", "figure", "unit",
		"from", "to", "from_repeats", "to_repeats", "change_percent", "lower_percent", "upper_percent", "verdict", "counts", "warnings",
	}}
	for _, against := range c.Against {
		a, b := c.Runs[0], c.Runs[against.Run]
		changed := c.changed(against.Run)
		for _, l := range against.Loads {
			for _, f := range l.Figures {
				unit := "s"
				if f.Figure == "IOPS" {
					unit = "1/s"
				}
				rows = append(rows, []string{
					plain(a.Name), plain(b.Name), a.Started.UTC().Format("2006-01-02 15:04:05"), b.Started.UTC().Format("2006-01-02 15:04:05"),
					plain(changed), plain(l.Load), plain(l.Plan), plain(l.Direction), f.Figure, unit,
					digits(f.From), digits(f.To), strconv.Itoa(l.FromRepeats), strconv.Itoa(l.ToRepeats),
					percentDigits(&f.Ratio.Value), percentDigits(f.Ratio.Lower), percentDigits(f.Ratio.Upper),
					string(f.Verdict), strconv.FormatBool(f.Counts), plain(warned(l.Warnings)),
				})
			}
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func (c Changes) changed(run int) string {
	var changes []record.Change
	for _, d := range c.Conditions {
		if d.Values[0] != d.Values[run] {
			changes = append(changes, record.Change{Condition: d.Condition, From: d.Values[0], To: d.Values[run]})
		}
	}
	return strings.Join(changesList(changes), "; ")
}

// plain keeps a text of a drive or a path from being taken for a formula.
func plain(s string) string {
	s = clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

func percentDigits(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return strconv.FormatFloat(100*(*ratio-1), 'f', 3, 64)
}
