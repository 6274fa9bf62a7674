package probe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// The loop must not create garbage: a garbage collection in the middle of a round would
// count as latency.
func TestIOsAllocateNothing(t *testing.T) {
	f, err := target.PrepareFile(t.Context(), t.TempDir(), target.FileOptions{SizeBytes: record.MinProbeFileBytes})
	require.NoError(t, err)
	defer f.Close()
	start, _ := f.Data()
	for _, p := range []record.Probe{
		{Direction: record.Read, BlockBytes: 4096, IOs: 1000},
		{Direction: record.Read, BlockBytes: 128 << 10, IOs: 1000},
		{Direction: record.Write, BlockBytes: 4096, IOs: 1000, Datasync: true},
	} {
		x := &execution{Round: Round{Probe: p, Source: f, Sink: f, Offsets: make([]int64, 1000)}, stop: t.Context().Err}
		require.NoError(t, x.prepare())
		defer x.release()
		thread := &x.threads[0]
		perIO := testing.AllocsPerRun(50, func() {
			if x.over() {
				t.Error("over")
			}
			latency, ok := x.do(thread, start, &x.unwritten[0])
			thread.counted = append(thread.counted, latency)
			if !ok {
				t.Errorf("I/O failed: %v", thread.errors)
			}
		})
		assert.Zero(t, perIO, "%s of %d bytes", p.Direction, p.BlockBytes)
	}
}
