package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Documentation is a table of all families in Markdown, for the test that keeps
// docs/metrics.md true, and the names in it.
func Documentation() (text string, names []string) {
	c := New(func() record.Snapshot { return record.Snapshot{} }, NewLatencies(), Build{})
	latency := row{latencyName, "histogram", probeLabels(), latencyHelp}
	var b strings.Builder
	for _, s := range []struct {
		title string
		rows  []row
	}{
		{"The node", rows(c.node)},
		{"The node and each target", rows(c.reports, deviceLabels()...)},
		{"Each target", rows(c.target, deviceLabels()...)},
		{"Each probe on a target", append(rows(c.probe, probeLabels()...), latency)},
		{"Each NVMe controller", rows(c.controller, controllerLabels()...)},
		{"Each SATA or SAS drive", rows(c.drive, deviceLabels()...)},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| name | type | labels | meaning |\n|---|---|---|---|\n", s.title)
		slices.SortFunc(s.rows, func(x, y row) int { return cmp.Compare(x.name, y.name) })
		for _, r := range s.rows {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.name, r.kind, strings.Join(r.labels, ", "), strings.ReplaceAll(r.help, "|", `\|`))
			names = append(names, r.name)
		}
	}
	b.WriteString("\n## Findings\n\n| code | severity | meaning | what to do |\n|---|---|---|---|\n")
	for _, k := range finding.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Code, k.Severity, k.Means, k.Action)
	}
	return b.String(), names
}

type row struct {
	name, kind string
	labels     []string
	help       string
}

func rows[T any](families []family[T], leading ...string) []row {
	var list []row
	for _, f := range families {
		kind := "gauge"
		if f.kind == prometheus.CounterValue {
			kind = "counter"
		}
		list = append(list, row{f.name, kind, slices.Concat(leading, f.labels), f.help})
	}
	return list
}
