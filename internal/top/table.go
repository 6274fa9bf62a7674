package top

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// none is shown where there is no value.
	none = "-"
	// verdict is the name of the column of states.
	verdict = "verdict"
)

// column is a column of the table.
type column struct {
	name  string
	width int
	left  bool
	// extra is the order in which columns are added when there is room; a column with 0 is always shown.
	extra int
	cell  func(Row) (string, Tone)
}

// columns returns all columns from left to right. Those that are always shown take 80 characters.
func columns() []column {
	return []column{
		{name: "device", width: 9, left: true, cell: func(r Row) (string, Tone) { return r.Device, Plain }},
		{name: "IOPS", width: 7, cell: func(r Row) (string, Tone) { return rate(r.IOPS(), 7), Plain }},
		{name: "r/s", width: 7, extra: 3, cell: func(r Row) (string, Tone) { return rate(r.Traffic.Work.Reads, 7), Plain }},
		{name: "w/s", width: 7, extra: 3, cell: func(r Row) (string, Tone) { return rate(r.Traffic.Work.Writes, 7), Plain }},
		{name: "MB/s", width: 6, cell: func(r Row) (string, Tone) { return rate(r.Bytes()/1e6, 6), Plain }},
		{name: "rMB/s", width: 6, extra: 4, cell: func(r Row) (string, Tone) { return rate(r.Traffic.Work.ReadBytes/1e6, 6), Plain }},
		{name: "wMB/s", width: 6, extra: 4, cell: func(r Row) (string, Tone) { return rate(r.Traffic.Work.WrittenBytes/1e6, 6), Plain }},
		{name: "read", width: 6, cell: latencyOf(record.OperationRead)},
		{name: "write", width: 6, cell: latencyOf(record.OperationWrite)},
		{name: "flush", width: 6, cell: latencyOf(record.OperationFlush)},
		{name: "disc.", width: 6, cell: latencyOf(record.OperationDiscard)},
		{name: "r p99", width: 6, extra: 2, cell: p99Of(record.OperationRead)},
		{name: "w p99", width: 6, extra: 2, cell: p99Of(record.OperationWrite)},
		{name: "f p99", width: 6, extra: 2, cell: p99Of(record.OperationFlush)},
		{name: "busy", width: 5, extra: 1, cell: func(r Row) (string, Tone) { return units.Percent(r.Traffic.Utilisation), Plain }},
		{name: "inflt", width: 5, cell: func(r Row) (string, Tone) { return strconv.FormatUint(r.InFlight, 10), Plain }},
		{name: "stall", width: 5, cell: stallCell},
		{name: "ratio", width: 6, cell: ratioCell},
		{name: verdict, width: 8, left: true, cell: verdictCell},
		{name: "model", width: 22, left: true, extra: 5, cell: func(r Row) (string, Tone) { return r.Model, Faint }},
	}
}

// fitting returns the columns that fit a width; 0 means unlimited. Spare width goes to the first column and then to that of the
// verdicts, as far as their texts need it.
func fitting(rows []Row, width int) []column {
	all := columns()
	if !slices.ContainsFunc(rows, func(r Row) bool { return r.P99 != nil }) {
		all = slices.DeleteFunc(all, func(c column) bool { return strings.HasSuffix(c.name, "p99") })
	}
	for most := 5; most >= 0; most-- {
		var fit []column
		total := -1
		for _, c := range all {
			if c.extra <= most {
				fit, total = append(fit, c), total+c.width+1
			}
		}
		if width > 0 && total > width && most > 0 {
			continue
		}
		total += widen(&fit[0], rows, width, total)
		widen(&fit[slices.IndexFunc(fit, func(c column) bool { return c.name == verdict })], rows, width, total)
		return fit
	}
	return all
}

// widen makes a column as wide as its longest text, as far as there is room in a table of total characters. It returns by how much.
func widen(c *column, rows []Row, width, total int) int {
	more := 0
	for _, r := range rows {
		text, _ := c.cell(r)
		more = max(more, len([]rune(text))-c.width)
	}
	if width > 0 {
		more = min(more, max(0, width-total))
	}
	c.width += more
	return more
}

// Table returns a header and a line for each row, of at most width characters; 0 means unlimited.
func Table(rows []Row, width int) (head Line, lines []Line) {
	fit := fitting(rows, width)
	for _, c := range fit {
		head = join(head, pad(c.name, c.width, c.left), Strong)
	}
	for _, r := range rows {
		var l Line
		for _, c := range fit {
			text, tone := c.cell(r)
			if text == "" {
				text = none
			}
			l = join(l, pad(line(tone, text)[0].Text, c.width, c.left), tone)
		}
		lines = append(lines, l.clip(width))
	}
	return head.clip(width), lines
}

func join(l Line, text string, tone Tone) Line {
	if len(l) > 0 {
		l = append(l, Span{" ", Plain})
	}
	return append(l, Span{text, tone})
}

// rate formats a number per second in at most width characters.
func rate(v float64, width int) string {
	if v > 0 && v < 0.01 {
		return "<0.01"
	}
	text := units.Number(v)
	if len(text) <= width {
		return text
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}} {
		if text = units.Number(v/unit.size) + unit.name; v < 999.5*unit.size {
			break
		}
	}
	return text
}

func latencyOf(o record.Operation) func(Row) (string, Tone) {
	return func(r Row) (string, Tone) { return latency(r.Traffic.Of(o).MeanLatency), Plain }
}

func p99Of(o record.Operation) func(Row) (string, Tone) {
	return func(r Row) (string, Tone) { return latency(r.P99[o]), Plain }
}

// latency formats a latency without spaces: "24.6µs".
func latency(d time.Duration) string {
	if d == 0 {
		return none
	}
	return strings.ReplaceAll(units.Latency(d), " ", "")
}

// stallCell shows how long nothing has completed, or else how many stalls there were.
func stallCell(r Row) (string, Tone) {
	switch {
	case r.Stall != nil && r.Stall.Cause == record.StallByDevice:
		return seconds(r.Stall.Length), Bad
	case r.Stall != nil:
		return seconds(r.Stall.Length), Warn
	case r.Stalls.Count > 0:
		return strconv.FormatUint(r.Stalls.Count, 10) + "×", Warn
	}
	return none, Plain
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64(math.Round(d.Seconds())), 10) + "s"
}

func ratioCell(r Row) (string, Tone) {
	if r.Ratio == 0 {
		return none, Plain
	}
	return units.Ratio(r.Ratio), toneOf(r)
}

func verdictCell(r Row) (string, Tone) { return string(r.State), toneOf(r) }

func toneOf(r Row) Tone {
	switch r.State.Grade() {
	case finding.Bad:
		return Bad
	case finding.Doubtful:
		return Warn
	case finding.Good:
		return Good
	case finding.Unknown:
	}
	return Plain
}
