package probe_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// deviceProber returns a prober for a raw device, and its pool.
func deviceProber(t *testing.T, path string) (*probe.Prober, *probe.Pool) {
	t.Helper()
	d := openDevice(t, path)
	p, err := probe.NewPool(d.SizeBytes(), 1)
	require.NoError(t, err)
	return probe.NewDeviceProber(calm(), d, p, d.BlockBytes()), p
}

func defaultProbe(name string) record.Probe {
	for _, p := range record.DefaultProbes() {
		if p.Name == name {
			return p
		}
	}
	panic(name)
}

// within reports whether all known blocks are in [from, to) of the device.
func within(p *probe.Pool, from, to int64) bool {
	for _, b := range p.State().Blocks {
		if b*4096 < from || b*4096 >= to {
			return false
		}
	}
	return true
}

func TestSearchFindsWhatIsWritten(t *testing.T) {
	for _, logical := range []int{512, 4096} {
		loop := testenv.LoopDevice(t, 16*mib, testenv.Options{LogicalBlockBytes: logical})
		loop.Write(t, 4*mib, 6*mib)
		b, known := deviceProber(t, loop.Path)
		p := defaultProbe("read-4k")

		before := blockStat(t, loop.Number)[statReadSectors]
		m, err := b.Round(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		assert.EqualValues(t, p.IOs/2, m.Latency.Count(), "half of the round went into the search")
		assert.Zero(t, m.UnwrittenBlocks)
		assert.Equal(t, m.ReadBytes, 512*(blockStat(t, loop.Number)[statReadSectors]-before))
		assert.Equal(t, []string{record.WarnPoolSmall}, codes(m))
		assert.Regexp(t, `^only \d+ of the \d+ written blocks that a baseline takes are known so far \(`, m.Warnings[0].Text, "what to do is not said twice")

		for rounds := 0; !known.Enough(); rounds++ {
			require.Less(t, rounds, 100, "the search gets nowhere: %d known", known.Len())
			m, err = b.Round(t.Context(), p)
			require.NoError(t, err)
			require.LessOrEqual(t, m.ReadBytes, p.RoundBytes(), "the search lives inside the round's budget")
		}
		assert.Empty(t, codes(m))
		assert.True(t, within(known, 4*mib, 10*mib))
		ratio, ok := known.WrittenRatio()
		require.True(t, ok)
		assert.InDelta(t, 6.0/16, ratio, 0.05)

		m, err = b.Round(t.Context(), p)
		require.NoError(t, err)
		assert.EqualValues(t, p.IOs-p.IOs/16, m.Latency.Count(), "one in sixteen goes on searching")
		assert.Zero(t, m.UnwrittenBlocks)
		assert.Equal(t, p.RoundBytes(), m.ReadBytes)
	}
}

func TestBlocksThatWereDiscardedAgeOut(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	b, known := deviceProber(t, loop.Path)
	p := defaultProbe("read-4k")
	for rounds := 0; !known.Enough(); rounds++ {
		require.Less(t, rounds, 100)
		_, err := b.Round(t.Context(), p)
		require.NoError(t, err)
	}

	loop.Punch(t, 4*mib, 12*mib)
	for rounds := 0; !within(known, 0, 4*mib); rounds++ {
		require.Less(t, rounds, 100)
		_, err := b.Round(t.Context(), p)
		require.NoError(t, err)
	}
	assert.NotZero(t, known.Len())

	loop.Punch(t, 0, 4*mib)
	var m record.Measurement
	for rounds := 0; known.Len() > 0; rounds++ {
		require.Less(t, rounds, 100)
		var err error
		m, err = b.Round(t.Context(), p)
		require.NoError(t, err)
	}
	assert.Equal(t, record.OutcomeUnmapped, m.Outcome)
	m, err := b.Round(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeUnmapped, m.Outcome)
	assert.Regexp(t, `^only 0 written blocks found so far \(\d+\.\d % of the sampled blocks read as written\): too few for a round; `, m.Reason)
	assert.Zero(t, m.Latency.Count())
	assert.NotZero(t, m.UnwrittenBlocks, "what the search saw")
	assert.Equal(t, m.CheckedBlocks, m.UnwrittenBlocks)
	assert.Equal(t, m.ReadBytes, 4096*m.CheckedBlocks)
}

// A drive without data is searched at length once. From then on its rounds read no more than those of any other drive.
func TestAnEmptyDriveIsSearchedAtLengthOnce(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{})
	b, known := deviceProber(t, loop.Path)
	var read int64
	for range 3 {
		for _, p := range record.DefaultProbes()[:2] {
			m, err := b.Round(t.Context(), p)
			require.NoError(t, err)
			require.Equal(t, record.OutcomeUnmapped, m.Outcome)
			read += m.ReadBytes - p.RoundBytes()
		}
	}
	assert.LessOrEqual(t, read, int64(8*mib), "more than the rounds may read")

	again, err := probe.NewPool(16*mib, 1)
	require.NoError(t, err)
	require.NoError(t, again.Restore(known.State()))
	d := openDevice(t, loop.Path)
	p := defaultProbe("read-4k")
	m, err := probe.NewDeviceProber(calm(), d, again, d.BlockBytes()).Round(t.Context(), p)
	require.NoError(t, err)
	assert.LessOrEqual(t, m.ReadBytes, p.RoundBytes(), "nor after a restart")
}

// A drive may return FFh for a deallocated block, and formatting may fill blocks with another byte.
func TestBlocksOfAnyUniformByteAreUnwritten(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{})
	for i, fill := range []byte{0x00, 0xff, 0x5a} {
		overwrite(t, loop, int64(i)*4*mib, bytes.Repeat([]byte{fill}, 4*mib))
	}
	loop.Write(t, 12*mib, 4*mib)
	b, known := deviceProber(t, loop.Path)
	for range 20 {
		m, err := b.Round(t.Context(), defaultProbe("read-4k"))
		require.NoError(t, err)
		require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		require.Zero(t, m.UnwrittenBlocks)
	}
	require.Positive(t, known.Len())
	assert.True(t, within(known, 12*mib, 16*mib))
	ratio, ok := known.WrittenRatio()
	require.True(t, ok)
	assert.InDelta(t, 0.25, ratio, 0.05)
}

// An earlier version recognised only zeros as unwritten. Blocks that it wrongly kept leave the pool when they are read.
func TestAPoolWithUnwrittenBlocksHeals(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	overwrite(t, loop, 0, bytes.Repeat([]byte{0xff}, 8*mib))
	b, known := deviceProber(t, loop.Path)
	s := probe.PoolState{SizeBytes: 16 * mib}
	for block := range int64(4096) {
		s.Blocks = append(s.Blocks, block)
	}
	require.NoError(t, known.Restore(s))
	for rounds := 0; !within(known, 8*mib, 16*mib); rounds++ {
		require.Less(t, rounds, 40)
		_, err := b.Round(t.Context(), defaultProbe("read-4k"))
		require.NoError(t, err)
	}
	assert.Greater(t, known.Len(), 1000)
}

// A fully written drive is not read in the same places for ever, at no extra cost.
func TestAFullPoolTurnsOver(t *testing.T) {
	loop := testenv.LoopDevice(t, 64*mib, testenv.Options{Random: true})
	full := probe.PoolState{SizeBytes: 64 * mib, Sampled: 100, Written: 100}
	for block := int64(0); block < 64*mib/4096; block += 2 {
		full.Blocks = append(full.Blocks, block)
	}
	require.Len(t, full.Blocks, 2*probe.PoolEnough)
	for name, atLeast := range map[string]int{"read-4k": 500, "read-128k": 60} {
		t.Run(name, func(t *testing.T) {
			b, known := deviceProber(t, loop.Path)
			require.NoError(t, known.Restore(full))
			p := defaultProbe(name)
			for range 80 {
				before := blockStat(t, loop.Number)[statReadSectors]
				m, err := b.Round(t.Context(), p)
				require.NoError(t, err)
				require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
				require.Equal(t, m.ReadBytes, 512*(blockStat(t, loop.Number)[statReadSectors]-before), "all that was read is counted")
				if p.Pattern == record.Random {
					require.Equal(t, p.RoundBytes(), m.ReadBytes, "the search lives inside the round")
				} else {
					require.LessOrEqual(t, m.ReadBytes, p.RoundBytes()+8*4096)
				}
			}
			left := map[int64]bool{}
			for _, block := range full.Blocks {
				left[block] = true
			}
			for _, block := range known.State().Blocks {
				delete(left, block)
			}
			assert.GreaterOrEqual(t, len(left), atLeast, "places that are not read any more")
			assert.Equal(t, len(full.Blocks), known.Len())
		})
	}
}

// overwrite writes data at an offset of a loop device.
func overwrite(t *testing.T, l testenv.Loop, off int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(l.Backing, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(data, off)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

// picky is a drive with 16 KiB logical blocks whose second half is written. Like the kernel, it refuses unaligned I/O.
func picky(nth int, p []byte, off int64) (int, error) {
	if len(p)%(16<<10) != 0 || off%(16<<10) != 0 {
		return 0, unix.EINVAL
	}
	clear(p)
	for i := 0; i < len(p); i += 4096 {
		if off+int64(i) >= 32*mib {
			p[i] = byte(1 + nth%250)
		}
	}
	return len(p), nil
}

// A probe whose blocks are too small for the drive reads larger ones, and warns.
func TestLogicalBlocksLargerThanThoseOfTheProbe(t *testing.T) {
	testLargeBlocks(t, &source{read: picky}, 64*mib, func() int64 { return -1 })
	if testenv.LargeBlocks(t) {
		loop := testenv.LoopDevice(t, 64*mib, testenv.Options{LogicalBlockBytes: 16 << 10})
		loop.Write(t, 32*mib, 32*mib)
		d := openDevice(t, loop.Path)
		require.EqualValues(t, 16<<10, d.BlockBytes())
		testLargeBlocks(t, d, d.SizeBytes(), func() int64 { return 512 * blockStat(t, loop.Number)[statReadSectors] })
	}
}

func testLargeBlocks(t *testing.T, drive io.ReaderAt, size int64, read func() int64) {
	t.Helper()
	known, err := probe.NewPool(size, 1)
	require.NoError(t, err)
	b := probe.NewDeviceProber(calm(), drive, known, 16<<10)
	random, sequential := defaultProbe("read-4k"), defaultProbe("read-128k")
	for range 20 {
		before := read()
		m, err := b.Round(t.Context(), random)
		require.NoError(t, err)
		require.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		require.Contains(t, codes(m), record.WarnLargerBlocks)
		require.Zero(t, m.UnwrittenBlocks)
		require.Zero(t, m.ReadBytes%(16<<10))
		require.GreaterOrEqual(t, m.ReadBytes, (m.Latency.Count()+int64(random.WarmupIOs))*16<<10)
		if before >= 0 {
			require.Equal(t, read()-before, m.ReadBytes)
		}
		m, err = b.Round(t.Context(), sequential)
		require.NoError(t, err)
		require.Contains(t, []record.Outcome{record.OutcomeOK, record.OutcomeUnmapped}, m.Outcome, m.Reason)
		require.NotContains(t, codes(m), record.WarnLargerBlocks)
	}
	assert.True(t, within(known, 32*mib, 64*mib))
	ratio, ok := known.WrittenRatio()
	require.True(t, ok)
	assert.InDelta(t, 0.5, ratio, 0.05)
	share, err := b.Sample(t.Context(), 500)
	require.NoError(t, err)
	assert.InDelta(t, 0.5, share, 0.1)

	m, err := b.Round(t.Context(), random)
	require.NoError(t, err)
	at := slices.IndexFunc(m.Warnings, func(w record.Warning) bool { return w.Code == record.WarnLargerBlocks })
	assert.Equal(t, "read-4k moves 16384 bytes at a time instead of 4096: the device has logical blocks of 16384 bytes", m.Warnings[at].Text)
}

func TestFitIsTheNextMultiple(t *testing.T) {
	for logical, want := range map[int64][3]int64{0: {512, 4096, 20 << 10}, 512: {512, 4096, 20 << 10}, 4096: {4096, 4096, 20 << 10}, 16 << 10: {16 << 10, 16 << 10, 32 << 10}} {
		b := probe.NewFileProber(calm(), &source{}, nil, probe.Area{Size: mib, BlockBytes: logical}, 1)
		for i, asked := range []int64{512, 4096, 20 << 10} {
			assert.Equal(t, want[i], b.Fit(record.Probe{BlockBytes: asked}).BlockBytes, "%d on %d", asked, logical)
		}
	}
}

func TestSequentialProbeOnADevice(t *testing.T) {
	loop := testenv.LoopDevice(t, 32*mib, testenv.Options{})
	loop.Write(t, 10*mib, 16*mib)
	b, known := deviceProber(t, loop.Path)
	p := defaultProbe("read-128k")
	for rounds := 0; !known.Enough(); rounds++ { // sequential rounds also search
		require.Less(t, rounds, 500, "%d known", known.Len())
		m, err := b.Round(t.Context(), p)
		require.NoError(t, err)
		require.Contains(t, []record.Outcome{record.OutcomeOK, record.OutcomeUnmapped}, m.Outcome, m.Reason)
	}
	for range 5 {
		m, err := b.Round(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
		assert.EqualValues(t, 32, m.Latency.Count())
		assert.Zero(t, m.UnwrittenBlocks, "all of the run is inside what was written")
	}
}

// A source in memory records where a sequential round reads.
func TestSequentialRunIsOneRun(t *testing.T) {
	known := pool(t, 16384, 4096)
	s := &source{}
	m, err := probe.NewDeviceProber(calm(), s, known, 512).Round(t.Context(), defaultProbe("read-128k"))
	require.NoError(t, err)
	require.Equal(t, record.OutcomeOK, m.Outcome)
	run := s.places[len(s.places)-34:]
	assert.Zero(t, run[0]%(128<<10))
	assert.Equal(t, offsets(34, run[0], 128<<10), run)
}

func TestLargeRandomBlocksAreReadOnceInARound(t *testing.T) {
	known := pool(t, 1<<20, 4096) // each 64 KiB has sixteen known blocks
	s := &source{}
	p := record.Probe{Name: "read-64k", Direction: record.Read, Pattern: record.Random, BlockBytes: 64 << 10, QueueDepth: 1, IOs: 100}
	m, err := probe.NewDeviceProber(calm(), s, known, 512).Round(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, record.OutcomeOK, m.Outcome)
	seen := map[int64]bool{}
	for _, off := range s.places[len(s.places)-int(m.Latency.Count()):] {
		assert.Zero(t, off%(64<<10))
		assert.False(t, seen[off], "%d twice in a round", off)
		seen[off] = true
	}
}

func TestErrorsInTheSearchAreNotUnwrittenBlocks(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	b, known := deviceProber(t, loop.Path)
	loop.Truncate(t, 8*mib)
	m, err := b.Round(t.Context(), defaultProbe("read-4k"))
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeError, m.Outcome)
	assert.Equal(t, map[string]int64{"EIO": 8}, m.Errors)
	assert.Equal(t, "I/O errors: EIO × 8", m.Reason)
	ratio, ok := known.WrittenRatio()
	require.True(t, ok)
	assert.InDelta(t, 1.0, ratio, 0, "what could be read is written")
}

func TestSearchEndsWithTheRound(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	s := &source{read: func(nth int, p []byte, _ int64) (int, error) {
		if nth == 3 {
			end(context.DeadlineExceeded)
		}
		return len(p), nil
	}}
	m, err := probe.NewDeviceProber(calm(), s, pool(t, 1000, 0), 512).Round(ctx, read4k(16))
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeTimeout, m.Outcome)
	assert.Len(t, s.places, 3)
	assert.EqualValues(t, 3*4096, m.ReadBytes)

	stopped, stop := context.WithCancelCause(t.Context())
	stop(errBroken)
	_, err = probe.NewDeviceProber(calm(), s, pool(t, 1000, 0), 512).Round(stopped, read4k(16))
	require.ErrorIs(t, err, errBroken)
	assert.Len(t, s.places, 3)
}

func TestDevicesAreNeverWritten(t *testing.T) {
	loop := testenv.LoopDevice(t, 1*mib, testenv.Options{Random: true})
	b, _ := deviceProber(t, loop.Path)
	_, err := b.Round(t.Context(), defaultProbe("durable-write-4k"))
	require.ErrorIs(t, err, probe.ErrReadOnly)
}

func TestTheSmallestProbeStillSearches(t *testing.T) {
	known := pool(t, 1<<20, 1)
	s := &source{}
	b := probe.NewDeviceProber(calm(), s, known, 512)
	for range 10 {
		m, err := b.Round(t.Context(), read4k(1))
		require.NoError(t, err)
		require.Equal(t, record.OutcomeOK, m.Outcome)
	}
	assert.Equal(t, 11, known.Len())
}

// A pool has fewer blocks than a round may have I/Os. A raw device was never measured by a probe of so many.
func TestARoundHasNoMoreBlocksThanThePool(t *testing.T) {
	known, err := probe.NewPool(1<<40, 1)
	require.NoError(t, err)
	b := probe.NewDeviceProber(calm(), &source{}, known, 4096)
	p := read4k(100_000)
	p.WarmupIOs = 1000
	var m record.Measurement
	for range 4 {
		m, err = b.Round(t.Context(), p)
		require.NoError(t, err)
		assert.LessOrEqual(t, m.ReadBytes, int64(2*probe.PoolEnough*4096), "the search lives inside the round's budget")
	}
	assert.Equal(t, record.OutcomeOK, m.Outcome, m.Reason)
	assert.Greater(t, m.Latency.Count(), int64(known.Len()*3/4))
}
