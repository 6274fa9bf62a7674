package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// bestSentence describes the best figures of a run, for runs without a more specific
// conclusion: its highest IOPS, its highest bandwidth and its lowest median latency, each
// with the step that reached it and the codes of its warnings.
func bestSentence(r record.RunReport) string {
	var iops, bytes, median Summary
	for _, s := range Summarise(r) {
		if s.Direction == partSync {
			continue
		}
		if s.IOPS > iops.IOPS {
			iops = s
		}
		if s.BytesPerSecond > bytes.BytesPerSecond {
			bytes = s
		}
		if s.P50 > 0 && (median.P50 == 0 || s.P50 < median.P50) {
			median = s
		}
	}
	var texts []string
	where := func(s Summary) string {
		return " (" + strings.Join(append([]string{s.Step + " " + s.Direction}, s.Codes...), ", ") + ")"
	}
	if iops.IOPS > 0 {
		texts = append(texts, "at most "+units.IOPS(iops.IOPS)+" IOPS"+where(iops))
	}
	if bytes.BytesPerSecond > 0 {
		texts = append(texts, "at most "+units.Bandwidth(bytes.BytesPerSecond)+where(bytes))
	}
	if median.P50 > 0 {
		texts = append(texts, "at best a median latency of "+units.Latency(median.P50)+where(median))
	}
	switch {
	case len(texts) == 0 && r.CheckPhysics() != nil:
		return "No step has a result: the figures are beyond what the bus can carry."
	case len(texts) == 0:
		return "Nothing was measured."
	}
	return upper(strings.Join(texts, ", ")) + "."
}

// doubtSentence counts the steps with warnings; empty when there are none.
func doubtSentence(r record.RunReport) string {
	marked := 0
	for _, s := range r.Steps {
		if len(s.Warnings) > 0 {
			marked++
		}
	}
	if marked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s had warnings, shown below the figures.", marked, units.Plural(len(r.Steps), "step"))
}
