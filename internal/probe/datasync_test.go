package probe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// unsynced accepts all writes but fails every second Datasync.
type unsynced struct{ syncs int }

func (*unsynced) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (*unsynced) Content(p []byte, _ int64)              { clear(p) }
func (u *unsynced) Datasync() error {
	if u.syncs++; u.syncs%2 == 0 {
		return unix.EIO
	}
	return nil
}

// A write whose datasync fails is a failed write: it is counted as an error and has no latency.
func TestFailedSyncsAreErrors(t *testing.T) {
	p := record.Probe{Name: "durable", Direction: record.Write, BlockBytes: 4096, QueueDepth: 1, IOs: 10, Datasync: true}
	got, err := calm().Round(t.Context(), probe.Round{Probe: p, Source: &source{}, Sink: &unsynced{}, Offsets: offsets(10, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeError, got.Outcome)
	assert.Equal(t, "I/O errors: EIO × 5", got.Reason)
	assert.Equal(t, map[string]int64{"EIO": 5}, got.Errors)
	assert.EqualValues(t, 5, got.Latency.Count())
	assert.EqualValues(t, 10*4096, got.WrittenBytes, "what it cost is counted all the same")
}
