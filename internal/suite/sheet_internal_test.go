package suite

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// docs/suites.md says which suites measure a figure of a data sheet with their defaults, on a raw device that they
// may overwrite.
func TestSuitesThatMeasureADataSheet(t *testing.T) {
	rate := &record.Promise[float64]{Value: 1}
	latency := &record.Promise[time.Duration]{Value: 1}
	sheet := record.DataSheet{
		RandomReadIOPS: rate, RandomWriteIOPS: rate, SequentialReadBytesPerSecond: rate, SequentialWriteBytesPerSecond: rate,
		RandomReadLatency: latency, RandomWriteLatency: latency,
	}
	suites := map[string][]string{}
	for _, s := range All() {
		target := Nominal(s.Name != "durable-write")
		target.Destroy = true
		planned, err := s.sketch(Values{}, []Target{target})
		require.NoError(t, err)
		var steps []record.Step
		for _, p := range planned {
			// Which direction has the result does not matter.
			steps = append(steps, record.Step{Name: p.Name, Workload: p.Workload, Read: &record.Result{IOs: 1, IOPS: 1, BytesPerSecond: 1, Mean: 1}})
		}
		for _, share := range analysis.Shares(steps, sheet) {
			if share.Step != "" {
				suites[share.Figure] = append(suites[share.Figure], "`"+s.Name+"`")
			}
		}
	}
	docs, err := os.ReadFile("../../docs/suites.md")
	require.NoError(t, err)
	for _, figure := range []string{"random read", "random write", "sequential read", "sequential write", "random read latency", "random write latency"} {
		row := fmt.Sprintf("| `%s` | %s |", strings.ReplaceAll(figure, " ", "-"), strings.Join(suites[figure], ", "))
		assert.Contains(t, string(docs), row)
	}
}
