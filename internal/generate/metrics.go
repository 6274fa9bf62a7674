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

Drives and the host have a verdict, and a model has none: a daemon knows the drives of its own node alone. What is said of a model and its
firmware is said across nodes, by the [recording rules](#recording-rules) and by ` + "[`ssdprobe fleet`](fleet.md)" + `.
`

const findings = `
## Findings

A finding says what is so now; ` + "`io_errors`" + ` stays until a restart. Its alert fires when that lasts, as long as the [runbook](runbook.md) says: most failed rounds and lost
readings end by themselves. A finding about the speed of a drive, or its stalls, has the alert of the verdict that it may lead to: SsdprobeDriveSevere where the
verdict is ` + "`severe`" + `, and none while it is ` + "`watch`" + ` or the finding alone makes no verdict, as a
single stall of three seconds. SsdprobeCriticalWarning and SsdprobeMediaErrorsGrowing are for NVMe drives; of a SATA or SAS
drive, only the findings tell. What grew before the daemon started is no finding.

Some severities differ on purpose. Critical on the page is what needs somebody today; an alert that pages is another decision. A drive whose verdict
is ` + "`severe`" + ` is critical, while its alert is a warning, unless the mixin has it page. ` + "`io_errors`" + ` is critical while rounds fail, as data are at risk. ` + "`cannot_probe`" + ` is critical, as the page can show nothing else of the drive, while its alert is a
warning, as the drive itself may be well. ` + "`collector`" + ` is a warning, as values are missing on the page, while its alert is for information, as no
drive is at risk. ` + "`drive_critical`" + ` about heat has an alert that is a warning, as heat loses no data by itself.

| code | severity | meaning | what to do | alert |
|---|---|---|---|---|
`

// metrics returns the page of all metrics, findings and recording rules.
func metrics(fs.FS) (map[string]string, error) {
	var b strings.Builder
	b.WriteString(introduction)
	for _, s := range export.Sections() {
		fmt.Fprintf(&b, "\n## %s\n\n| name | type | labels | meaning |\n|---|---|---|---|\n", s.Title)
		for _, f := range s.Families {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, strings.Join(f.Labels, ", "), strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	b.WriteString(findings)
	for _, k := range finding.Kinds() {
		alert := ""
		if k.Alert != "" {
			alert = fmt.Sprintf("[%s](runbook.md#%s)", k.Alert, strings.ToLower(k.Alert))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Code, k.Severity, k.Means, k.Action, alert)
	}
	b.WriteString(recorded)
	return map[string]string{"docs/metrics.md": b.String()}, nil
}
