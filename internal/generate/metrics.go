package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/finding"
)

const introduction = `# Metrics

ssdprobe exports these metrics at ` + "`/metrics`" + `. This page is made from the code by ` + "`make generate`" + `; a test fails when it is out of date.

Every series of a target has two labels. ` + "`device`" + ` is the current kernel name, which joins with the series of node_exporter. ` + "`id`" + `
survives re-enumeration. A probe file has the ` + "`device`" + ` below it and its own ` + "`id`" + `.

Ratios are 0 to 1 unless their meaning says otherwise. A missing result is an absent series, never 0. To notice that results
stopped, alert on ` + "`ssdprobe_probe_last_success_timestamp_seconds`" + `.

The latency histogram has classic buckets in every format, and native buckets when Prometheus scrapes protobuf. Percentiles are
gauges with the label ` + "`percentile`" + `, for example ` + "`percentile=\"99.9\"`" + `. The label is not ` + "`quantile`" + `, because Prometheus reserves that
for summaries: ` + "`promtool check metrics`" + ` and client_golang's promlint reject it on any other type.

The series of an NVMe controller appear once, with the ` + "`device`" + ` and ` + "`id`" + ` of its first watched namespace. If several controllers
reach a namespace, each has its own series: use ` + "`max by (id)`" + ` for what the drive as a whole counts.
`

// metrics makes the page of all metrics, findings and recording rules.
func metrics(fs.FS) (map[string]string, error) {
	var b strings.Builder
	b.WriteString(introduction)
	for _, s := range export.Sections() {
		fmt.Fprintf(&b, "\n## %s\n\n| name | type | labels | meaning |\n|---|---|---|---|\n", s.Title)
		for _, f := range s.Families {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, strings.Join(f.Labels, ", "), strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	b.WriteString("\n## Findings\n\n| code | severity | meaning | what to do |\n|---|---|---|---|\n")
	for _, k := range finding.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Code, k.Severity, k.Means, k.Action)
	}
	b.WriteString(recorded)
	return map[string]string{"docs/metrics.md": b.String()}, nil
}
