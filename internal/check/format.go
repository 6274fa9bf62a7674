package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Format is an output format of a result: its line and its exit code.
type Format string

// The formats.
const (
	Text Format = "text"
	// Nagios follows the Monitoring Plugins guidelines, with performance data.
	Nagios Format = "nagios"
	// NPD is for plugins of node-problem-detector, which use other exit codes.
	NPD  Format = "npd"
	JSON Format = "json"
)

// Formats lists all formats.
func Formats() []Format { return []Format{Text, Nagios, NPD, JSON} }

// Code returns the exit code: 0 healthy, 1 degraded, 2 severe, 3 unknown. For node-problem-detector it is 0 fine, 1 a
// problem, 2 unknown.
func (f Format) Code(r Result) int {
	code := map[record.DriveVerdict]int{record.Healthy: 0, record.Degraded: 1, record.Severe: 2}
	n, known := code[r.Verdict]
	switch {
	case f != NPD && !known:
		return 3
	case f != NPD:
		return n
	case !known:
		return 2
	}
	return min(1, n)
}

// Line returns the result as one line, without a newline.
func (f Format) Line(r Result) string {
	switch f {
	case JSON:
		text, err := json.Marshal(r)
		if err != nil { // a Result has no value that JSON cannot encode
			return fmt.Sprintf("{%q: %q}", "error", err)
		}
		return string(printable.JSON(text))
	case Nagios:
		status := map[record.DriveVerdict]string{record.Healthy: "OK", record.Degraded: "WARNING", record.Severe: "CRITICAL"}[r.Verdict]
		if status == "" {
			status = "UNKNOWN"
		}
		// Nagios takes everything after a bar for performance data.
		return "SSDPROBE " + status + " - " + strings.ReplaceAll(r.words(), "|", "/") + " | " + r.performance()
	case Text, NPD:
	}
	return string(r.Verdict) + ": " + r.words()
}

// mostNamed is the largest number of reasons in a line.
const mostNamed = 5

// words returns the result in words: "nvme1n1 is severe since …; 12 drives on stor-07".
func (r Result) words() string {
	named := r.Reasons[:min(mostNamed, len(r.Reasons))]
	parts := append([]string{}, named...)
	if more := len(r.Reasons) - len(named); more > 0 {
		parts = append(parts, units.Count(more)+" more")
	}
	if len(r.Drives) > 0 {
		parts = append(parts, units.Plural(len(r.Drives), "drive")+" on "+r.Node)
	}
	for _, state := range slices.Backward(finding.States()) {
		if n := r.despite(state); n > 0 {
			words := string(state)
			if state == finding.State(record.Watch) {
				words = "on watch"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	if !r.LastRound.IsZero() {
		parts = append(parts, "no daemon answers, so this is what was stored last; the last round was "+units.Ago(r.LastRound, r.Time))
	}
	for i, part := range parts {
		parts[i] = finding.OneLine(part)
	}
	return printable.Text(strings.Join(strings.Fields(strings.Join(parts, "; ")), " "))
}

// performance returns the performance data: how many drives have each verdict, and how many times slower each drive is.
func (r Result) performance() string {
	data := []string{fmt.Sprintf("drives=%d;;;0", len(r.Drives))}
	for _, v := range []record.DriveVerdict{record.Healthy, record.Watch, record.Degraded, record.Severe, record.Unjudged} {
		data = append(data, fmt.Sprintf("%s=%d;;;0", v, r.count(v)))
	}
	for _, d := range r.Drives {
		if ratio := d.Verdict.RatioNow().Ratio; ratio > 0 {
			// A label is quoted, and may contain neither quotes nor an equals sign.
			label := strings.NewReplacer("'", "_", "=", "_", "|", "_").Replace(printable.Text(d.Name()))
			data = append(data, fmt.Sprintf("'%s ratio'=%s;;;0", label, strconv.FormatFloat(ratio, 'f', 3, 64)))
		}
	}
	return strings.Join(data, " ")
}
