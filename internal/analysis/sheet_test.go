package analysis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A figure of the data sheet that no step measured is listed without a share.
func TestShares(t *testing.T) {
	sheet := record.DataSheet{
		RandomReadIOPS: new(2e6), RandomWriteIOPS: new(250e3), SequentialReadBytesPerSecond: new(14e9), SequentialWriteBytesPerSecond: new(3e9),
		RandomReadLatency: new(85 * time.Microsecond),
	}
	sequential := randomRead(128, 100_000)
	sequential.Name, sequential.Workload.Pattern, sequential.Read.BytesPerSecond = "sequential-read", record.Sequential, 13.3e9
	got := analysis.Shares([]step{
		randomRead(1, 10_000), randomRead(128, 1_500_000), randomRead(64, 1_900_000), sequential,
		together([]string{"a", "b"}, 3e6, 3e6), short(randomRead(32, 9e9)),
	}, sheet)
	assert.Equal(t, []record.SheetShare{
		{Figure: "random read", Unit: "IOPS", Promised: 2e6, Measured: 1.9e6, Step: "random-read-qd64", Share: 0.95},
		{Figure: "random write", Unit: "IOPS", Promised: 250e3},
		{Figure: "sequential read", Unit: "B/s", Promised: 14e9, Measured: 13.3e9, Step: "sequential-read", Share: 0.95},
		{Figure: "sequential write", Unit: "B/s", Promised: 3e9},
		{Figure: "random read latency", Unit: "s", Promised: 85e-6, Measured: 100e-6, Step: "random-read-qd1", Share: 0.85},
	}, got)
}

// A disturbed step decides no share, unless another repeat of its load may.
func TestSharesOfDisturbedStepsSaySo(t *testing.T) {
	sheet := record.DataSheet{RandomReadIOPS: new(2e6), RandomReadLatency: new(85 * time.Microsecond)}
	got := analysis.Shares([]step{randomRead(1, 10_000), disturbed(randomRead(64, 500_000))}, sheet)
	assert.Equal(t, []any{500e3, []string{"disturbed"}}, []any{got[0].Measured, got[0].Codes})
	assert.Empty(t, got[1].Codes, "the other step has the latency")

	steps := repeats("deep", 500_000, 450_000)
	steps[0] = disturbed(steps[0])
	got = analysis.Shares(steps, sheet)
	assert.Equal(t, []any{450e3, []string(nil)}, []any{got[0].Measured, got[0].Codes})
}
