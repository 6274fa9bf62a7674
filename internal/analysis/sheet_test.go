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
		RandomReadIOPS: &record.Promise[float64]{Value: 2e6}, RandomWriteIOPS: &record.Promise[float64]{Value: 250e3}, SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 14e9}, SequentialWriteBytesPerSecond: &record.Promise[float64]{Value: 3e9},
		RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond},
	}
	sequential := randomRead(128, 100_000)
	sequential.Name, sequential.Workload.Pattern, sequential.Read.BytesPerSecond = "sequential-read", record.Sequential, 13.3e9
	sequential.Workload.BlockBytes = 128 << 10
	got := analysis.Shares([]step{
		randomRead(1, 10_000), randomRead(128, 1_500_000), randomRead(64, 1_900_000), sequential,
		together([]string{"a", "b"}, 3e6, 3e6), short(randomRead(32, 9e9)),
	}, sheet)
	assert.Equal(t, []record.SheetShare{
		{Figure: "random read", Unit: "IOPS", BlockBytes: 4 << 10, Promised: 2e6, Measured: 1.9e6, Step: "random-read-qd64", Share: 0.95},
		{Figure: "random write", Unit: "IOPS", BlockBytes: 4 << 10, Promised: 250e3},
		{Figure: "sequential read", Unit: "B/s", BlockBytes: 128 << 10, Promised: 14e9, Measured: 13.3e9, Step: "sequential-read", Share: 0.95},
		{Figure: "sequential write", Unit: "B/s", BlockBytes: 128 << 10, Promised: 3e9},
		{Figure: "random read latency", Unit: "s", BlockBytes: 4 << 10, Promised: 85e-6, Measured: 100e-6, Step: "random-read-qd1", Share: 0.85},
	}, got)
}

// A disturbed step decides no share, unless another repeat of its load may.
func TestSharesOfDisturbedStepsSaySo(t *testing.T) {
	sheet := record.DataSheet{RandomReadIOPS: &record.Promise[float64]{Value: 2e6}, RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond}}
	got := analysis.Shares([]step{randomRead(1, 10_000), disturbed(randomRead(64, 500_000))}, sheet)
	assert.Equal(t, []any{500e3, []string{"disturbed"}}, []any{got[0].Measured, got[0].Codes})
	assert.Empty(t, got[1].Codes, "the other step has the latency")

	steps := repeats("deep", 500_000, 450_000)
	steps[0] = disturbed(steps[0])
	got = analysis.Shares(steps, sheet)
	assert.Equal(t, []any{450e3, []string(nil)}, []any{got[0].Measured, got[0].Codes})
}

// sized returns a step with blocks of another size.
func sized(s step, blockBytes int64) step {
	s.Workload.BlockBytes = blockBytes
	return s
}

// Makers state random figures for 4 KiB and sequential ones for 128 KiB or more. Other blocks say nothing of them.
func TestSharesAreOfTheBlockSizeOfTheSheet(t *testing.T) {
	sheet := record.DataSheet{RandomReadIOPS: &record.Promise[float64]{Value: 1e6}, SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 7e9}, RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond}}
	steps := func(random, sequential int64) []step {
		s := sized(randomRead(32, 60_000), sequential)
		s.Name, s.Workload.Pattern = "sequential-read", record.Sequential
		return []step{sized(randomRead(1, 10_000), random), sized(randomRead(64, 900_000), random), s}
	}
	measured := func(steps []step) (names []string) {
		for _, s := range analysis.Shares(steps, sheet) {
			names = append(names, s.Step)
		}
		return names
	}
	assert.Equal(t, []string{"random-read-qd64", "sequential-read", "random-read-qd1"}, measured(steps(4<<10, 128<<10)))
	assert.Equal(t, []string{"", "sequential-read", ""}, measured(steps(512, 1<<20)))
	assert.Equal(t, []string{"", "", ""}, measured(steps(128<<10, 64<<10)))
}

// Sheets of drives with large mapping units state each figure for blocks of its own size.
func TestSharesAreOfTheBlockSizeThatTheSheetNames(t *testing.T) {
	write := func(name string, depth int, blockBytes int64, iops float64) step {
		s := sized(randomRead(depth, iops), blockBytes)
		s.Name, s.Workload.Direction = name, record.Write
		s.Read, s.Write = nil, s.Read
		return s
	}
	stream := write("stream", 8, 1<<20, 3000)
	stream.Workload.Pattern = record.Sequential
	small := write("small-stream", 8, 128<<10, 90_000)
	small.Workload.Pattern = record.Sequential
	got := analysis.Shares([]step{
		write("4k", 32, 4<<10, 9_000), write("16k", 32, 16<<10, 40_000), write("64k", 32, 64<<10, 50_000),
		write("4k-qd1", 1, 4<<10, 50_000), write("16k-qd1", 1, 16<<10, 100_000), stream, small,
	}, record.DataSheet{
		RandomWriteIOPS:               &record.Promise[float64]{Value: 50e3, BlockBytes: 16 << 10},
		SequentialWriteBytesPerSecond: &record.Promise[float64]{Value: 1e10, BlockBytes: 1 << 20},
		RandomWriteLatency:            &record.Promise[time.Duration]{Value: 10 * time.Microsecond},
	})
	var steps []string
	var blocks []int64
	for _, s := range got {
		steps, blocks = append(steps, s.Step), append(blocks, s.BlockBytes)
	}
	assert.Equal(t, []string{"16k-qd1", "stream", "4k-qd1"}, steps)
	assert.Equal(t, []int64{16 << 10, 1 << 20, 4 << 10}, blocks)
}
