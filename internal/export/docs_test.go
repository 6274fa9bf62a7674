package export_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
)

const introduction = `# Metrics

ssdprobe exports these metrics at ` + "`/metrics`" + `. This page is made from the code by ` + "`make golden`" + `; a test fails when it is out of date.

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

func TestDocumentation(t *testing.T) {
	text, documented := export.Documentation()
	slices.Sort(documented)
	assert.Equal(t, names(t), documented)
	golden(t, filepath.Join("..", "..", "docs", "metrics.md"), introduction+text)
}
