package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
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

The kernel counts I/O, stalls and latencies for a device, whatever targets it has. So these series appear once, with the ` + "`id`" + ` of the watched device, or
else of the first probe file on it. Find them by ` + "`device`" + `.

Drives and the host have a verdict. A model has none, because a daemon knows only the drives of its own node. The [recording rules](#recording-rules)
and ` + "[`ssdprobe fleet`](fleet.md)" + ` compare models and their firmware across nodes.
`

const findings = `
## Findings

Most findings describe the present. ` + "`stalled`, `hot` and `critically_hot`" + ` look back an hour, ` + "`media_errors`" + ` a day. ` + "`verdict_held`" + ` lasts up to a week.
` + "`io_errors`" + ` lasts until ssdprobe restarts; a day after the last error, its severity drops to info.
The alert of a finding fires after the time in the [runbook](runbook.md), because most failed rounds and lost readings end by themselves. For findings
about speed or stalls, the table names the alert of the verdict that they may lead to. If the verdict is ` + "`severe`" + `, SsdprobeDriveSevere fires instead. There is no alert while the verdict is ` + "`watch`" + `, or if the finding alone changes no verdict, such as a
single stall of three seconds. SsdprobeSpareBelowThreshold and SsdprobeTemperatureAboveLimit cover NVMe drives only. An increase before the daemon started is not a finding.

The severity of a finding and of its alert differ on purpose in some cases. On the status page, critical means that somebody has to act today.
Whether an alert pages somebody is a separate decision:

- A drive whose verdict is ` + "`severe`" + ` is critical. Its alert is a warning, unless you configure the mixin to page.
- ` + "`io_errors`" + ` is critical while rounds fail, because data are at risk.
- ` + "`cannot_probe`" + ` is critical, because the page can show nothing else about the drive. Its alert is a warning, because the drive itself may be well.
- ` + "`collector`" + ` is a warning, because values are missing on the page. Its alert is for information, because no drive is at risk.
- ` + "`nothing_watched`" + ` is a warning. Its alert is for information, because a node may be meant to have no drives.
- ` + "`drive_critical`" + ` about heat is critical. Its alert is a warning, because heat alone loses no data.
- ` + "`self_test_failed`" + ` is critical. Its alert is a warning, because a drive may serve for long after a failed test.

| code | severity | meaning | what to do | alert |
|---|---|---|---|---|
`

const conditions = `
## Conditions

These are the names of the conditions, in the label ` + "`condition`" + ` of drifts, changes and effects, in ` + "`drift accept --change`" + `, and in the CSV of ` + "`drift replay`" + `:

- ` + "`%s`" + `

[drift.md](drift.md#conditions-and-epochs) says what a change of them does.
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
	fmt.Fprintf(&b, conditions, strings.Join(record.ConditionNames(), "`\n- `"))
	b.WriteString(recorded)
	return map[string]string{"docs/metrics.md": b.String()}, nil
}
