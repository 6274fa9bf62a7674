package probe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// walk returns the offsets that the rounds of a prober with the given seed read,
// including the warm-up.
func walk(t *testing.T, p record.Probe, area probe.Area, seed uint64, rounds int) []int64 {
	t.Helper()
	s := &source{}
	b := probe.NewFileProber(calm(), s, nil, area, seed)
	for range rounds {
		m, err := b.Round(t.Context(), p)
		require.NoError(t, err)
		require.EqualValues(t, p.IOs, m.Latency.Count())
		require.EqualValues(t, p.WarmupIOs, m.Warmup.Count())
	}
	return s.places
}

func TestRandomOffsets(t *testing.T) {
	area := probe.Area{Start: 1 << 20, Size: 1000*4096 + 100} // the end is not a whole block
	p := read4k(240)
	p.WarmupIOs = 10
	places := walk(t, p, area, 7, 4)
	require.Len(t, places, 1000)
	assert.Equal(t, places, walk(t, p, area, 7, 4), "a seed gives one order")
	assert.NotEqual(t, places, walk(t, p, area, 8, 4), "another seed gives another")
	assert.ElementsMatch(t, offsets(1000, 1<<20, 4096), places, "every block once before any twice, aligned, none outside")

	ascending := 0
	for i := 1; i < len(places); i++ {
		if places[i] == places[i-1]+4096 {
			ascending++
		}
	}
	assert.Less(t, ascending, 20, "not in order")
}

func TestSequentialOffsets(t *testing.T) {
	p := record.Probe{Name: "s", Direction: record.Read, Pattern: record.Sequential, BlockBytes: 8192, QueueDepth: 1, IOs: 3, WarmupIOs: 1}
	places := walk(t, p, probe.Area{Start: 4096, Size: 6 * 8192}, 0, 2)
	assert.Equal(t, append(offsets(6, 4096, 8192), offsets(2, 4096, 8192)...), places, "one after the other, round after round, then from the start")
}

func TestProbesDoNotShareTheirPlace(t *testing.T) {
	s := &source{}
	b := probe.NewFileProber(calm(), s, nil, probe.Area{Size: 1 << 20}, 3)
	a, c := read4k(4), read4k(4)
	c.Name = "other"
	a.Pattern, c.Pattern = record.Sequential, record.Sequential
	for _, p := range []record.Probe{a, c, a} {
		_, err := b.Round(t.Context(), p)
		require.NoError(t, err)
	}
	assert.Equal(t, append(append(offsets(4, 0, 4096), offsets(4, 0, 4096)...), offsets(4, 4*4096, 4096)...), s.places)
}

func TestSmallFilesAreWarnedOf(t *testing.T) {
	for blocks, want := range map[int64][]string{2560: nil, 2559: {record.WarnRepeatedBlocks}} {
		b := probe.NewFileProber(calm(), &source{}, nil, probe.Area{Size: blocks * 4096}, 1)
		m, err := b.Round(t.Context(), read4k(256))
		require.NoError(t, err)
		assert.Equal(t, want, codes(m), "%d blocks", blocks)
	}
}

func codes(m record.Measurement) []string {
	var list []string
	for _, w := range m.Warnings {
		list = append(list, w.Code)
	}
	return list
}

func TestProberRefuses(t *testing.T) {
	s := &source{}
	b := probe.NewFileProber(calm(), s, nil, probe.Area{Size: 4095}, 1)
	_, err := b.Round(t.Context(), read4k(1))
	require.EqualError(t, err, "probe read-4k: the target's 4095 bytes are less than a block of 4096")
	_, err = b.Round(t.Context(), record.Probe{Name: "w", Direction: record.Write, BlockBytes: 512, IOs: 1})
	require.ErrorIs(t, err, probe.ErrReadOnly)
	assert.Empty(t, s.places)
}

func TestDefaultProbesOnARealFile(t *testing.T) {
	f := probeFile(t, t.TempDir())
	b := fileProber(f, f.Seed())
	for _, p := range record.DefaultProbes() {
		m, err := b.Round(t.Context(), p)
		require.NoError(t, err, p.Name)
		assert.Equal(t, record.OutcomeOK, m.Outcome, p.Name)
		assert.EqualValues(t, p.IOs, m.Latency.Count(), p.Name)
		assert.EqualValues(t, p.WarmupIOs, m.Warmup.Count(), p.Name)
		assert.Equal(t, p.RoundBytes(), m.ReadBytes+m.WrittenBytes, p.Name)
		assert.Zero(t, m.UnwrittenBlocks, p.Name)
	}
}
