package export_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
)

const introduction = `# Metrics

What ssdprobe exports at ` + "`/metrics`" + `. This page is made from the code by ` + "`make golden`" + `; a test fails when it is out of date.

Every series of a target carries ` + "`device`" + `, the kernel's name of today, which joins with node_exporter's, and ` + "`id`" + `, which
survives re-enumeration. A probe file has the device below it as ` + "`device`" + ` and an ` + "`id`" + ` of its own. Ratios are 0–1 unless
their meaning says otherwise. A missing result is an absent series, never 0: alert on
` + "`ssdprobe_probe_last_success_timestamp_seconds`" + ` to notice that results stopped. The latency histogram has classic buckets in every
format, and native ones where Prometheus scrapes protobuf.

The series of an NVMe controller come once, with the ` + "`device`" + ` and ` + "`id`" + ` of the first of its namespaces that is watched. A namespace that
several controllers reach has the series of each: take ` + "`max by (id)`" + ` of what the drive as a whole counts.
`

func TestDocumentation(t *testing.T) {
	text, documented := export.Documentation()
	slices.Sort(documented)
	assert.Equal(t, names(t), documented)
	golden(t, filepath.Join("..", "..", "docs", "metrics.md"), introduction+text)
}
