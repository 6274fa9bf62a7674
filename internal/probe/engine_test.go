package probe_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestRoundCountsWhatItDid(t *testing.T) {
	f := probeFile(t, t.TempDir())
	start, _ := f.Data()
	for _, test := range []struct {
		blockBytes          int64
		depth, ios, warmups int
	}{
		{4096, 1, 256, 8},
		{4096, 1, 1, 0},
		{4096, 8, 256, 8},
		{4096, 64, 3, 1}, // the queue depth exceeds the number of I/Os
		{512, 2, 100, 3},
		{128 << 10, 1, 32, 2},
		{1 << 20, 4, 7, 1},
	} {
		t.Run(fmt.Sprintf("%d bytes, depth %d, %d + %d I/Os", test.blockBytes, test.depth, test.ios, test.warmups), func(t *testing.T) {
			p := record.Probe{Name: "p", Direction: record.Read, BlockBytes: test.blockBytes, QueueDepth: test.depth, IOs: test.ios}
			before := time.Now()
			got, err := calm().Round(t.Context(), probe.Round{
				Probe: p, Source: f, Sink: f,
				Warmup: offsets(test.warmups, start, test.blockBytes), Offsets: offsets(test.ios, start, test.blockBytes),
			})
			require.NoError(t, err)
			assert.WithinRange(t, got.Start, before, time.Now())
			assert.EqualValues(t, test.ios, got.Latency.Count())
			assert.EqualValues(t, test.warmups, got.Warmup.Count())
			assert.Positive(t, got.Latency.Min())
			// The I/Os of a thread run one after the other, and the histogram keeps three
			// digits.
			assert.LessOrEqual(t, float64(got.Latency.Sum()), 1.001*float64(got.Duration)*float64(test.depth))
			assert.GreaterOrEqual(t, got.Duration, got.Latency.Max()*999/1000)
			granules := max(1, test.blockBytes/4096)
			assert.Equal(t, record.Measurement{
				Probe: "p", Start: got.Start, Outcome: record.OutcomeOK, Duration: got.Duration, Latency: got.Latency, Warmup: got.Warmup,
				ReadBytes: int64(test.ios+test.warmups) * test.blockBytes, CheckedBlocks: int64(test.ios) * granules,
			}, got.Measurement)
			assert.Equal(t, make([]bool, test.ios), got.Unwritten)
		})
	}
}

// The round reports as much as the kernel counts for the device, so nothing came from the
// page cache.
func TestReadsReachTheDevice(t *testing.T) {
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	d := openDevice(t, loop.Path)
	for range 2 { // the second time, the blocks could be cached
		before := blockStat(t, loop.Number)
		got, err := calm().Round(t.Context(), probe.Round{
			Probe: read4k(200), Source: d, Warmup: offsets(10, 0, 4096), Offsets: offsets(200, 1<<20, 4096),
		})
		require.NoError(t, err)
		after := blockStat(t, loop.Number)
		assert.EqualValues(t, 210, after[statReads]-before[statReads])
		assert.Equal(t, got.ReadBytes, 512*(after[statReadSectors]-before[statReadSectors]))
	}
}

func TestFileReadsReachTheDevice(t *testing.T) {
	f := probeFile(t, t.TempDir())
	start, _ := f.Data()
	for range 2 {
		before := number(t, "/proc/self/io", "read_bytes")
		got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(300), Source: f, Offsets: offsets(300, start, 4096)})
		require.NoError(t, err)
		assert.GreaterOrEqual(t, number(t, "/proc/self/io", "read_bytes")-before, got.ReadBytes)
	}
}

func TestDurableWritesReachTheDriveAndKeepTheContent(t *testing.T) {
	dir := testenv.Ext4(t, 400<<20)
	f := probeFile(t, dir)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(dir, &st))
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	start, _ := f.Data()

	p := record.Probe{Name: "durable", Direction: record.Write, BlockBytes: 4096, QueueDepth: 1, IOs: 32, Datasync: true}
	flushes, written := blockStat(t, device)[statFlushes], number(t, "/proc/self/io", "write_bytes")
	got, err := calm().Round(t.Context(), probe.Round{
		Probe: p, Source: f, Sink: f, Warmup: offsets(1, start, 4096), Offsets: offsets(32, start+4096, 4096),
	})
	require.NoError(t, err)
	assert.Equal(t, record.Measurement{
		Probe: "durable", Start: got.Start, Outcome: record.OutcomeOK, Duration: got.Duration, Latency: got.Latency, Warmup: got.Warmup,
		WrittenBytes: 33 * 4096,
	}, got.Measurement)
	assert.EqualValues(t, 32, got.Latency.Count())
	assert.GreaterOrEqual(t, blockStat(t, device)[statFlushes]-flushes, int64(33), "each write was followed by a flush of the drive")
	assert.GreaterOrEqual(t, number(t, "/proc/self/io", "write_bytes")-written, got.WrittenBytes)

	want, have := make([]byte, 33*4096), make([]byte, 33*4096)
	f.Content(want, start)
	_, err = readAligned(t, f, have, start)
	require.NoError(t, err)
	assert.Equal(t, want, have)
}

// readAligned reads through memory that O_DIRECT accepts.
func readAligned(t *testing.T, r io.ReaderAt, p []byte, off int64) (int, error) {
	t.Helper()
	m, err := unix.Mmap(-1, 0, len(p), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(m)) }()
	n, err := r.ReadAt(m, off)
	copy(p, m[:n])
	return n, err
}

func TestDepthIsThreads(t *testing.T) {
	const depth = 8
	var mu sync.Mutex
	threads := map[int]int{}
	var arrived sync.WaitGroup
	arrived.Add(depth)
	s := &source{read: func(nth int, p []byte, _ int64) (int, error) {
		mu.Lock()
		threads[unix.Gettid()]++
		mu.Unlock()
		if nth <= depth { // block until all are in flight at once
			arrived.Done()
			arrived.Wait()
		}
		p[0] = 1
		return len(p), nil
	}}
	p := read4k(64)
	p.QueueDepth = depth
	got, err := calm().Round(t.Context(), probe.Round{Probe: p, Source: s, Offsets: offsets(64, 0, 4096)})
	require.NoError(t, err)
	assert.EqualValues(t, 64, got.Latency.Count())
	assert.Len(t, threads, depth, "each has its thread and keeps it: its waiting time is read before and after")
	assert.ElementsMatch(t, offsets(64, 0, 4096), s.places, "each offset once, whichever thread reads it")
}

func TestDepthOneIsInOrder(t *testing.T) {
	s := &source{}
	_, err := calm().Round(t.Context(), probe.Round{
		Probe: read4k(5), Source: s, Warmup: []int64{8192, 0}, Offsets: []int64{4096, 16384, 0, 8192, 4096},
	})
	require.NoError(t, err)
	assert.Equal(t, []int64{8192, 0, 4096, 16384, 0, 8192, 4096}, s.places)
}

func TestRoundRefuses(t *testing.T) {
	write := record.Probe{Name: "w", Direction: record.Write, BlockBytes: 4096, QueueDepth: 1, IOs: 1}
	s := &source{}
	_, err := calm().Round(t.Context(), probe.Round{Probe: write, Source: s, Offsets: []int64{0}})
	require.ErrorIs(t, err, probe.ErrReadOnly)
	_, err = calm().Round(t.Context(), probe.Round{Probe: read4k(1), Source: s})
	require.EqualError(t, err, "probe read-4k: no offsets to read")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	_, err = calm().Round(ctx, probe.Round{Probe: read4k(1), Source: s, Offsets: []int64{0}})
	require.ErrorIs(t, err, errBroken)
	assert.Empty(t, s.places, "nothing was touched")

	_, err = probe.NewEngine(&meter{err: errBroken}, 1).Round(t.Context(), probe.Round{Probe: read4k(1), Source: s, Offsets: []int64{0}})
	require.ErrorIs(t, err, errBroken, "a round of which nobody knows whether it was disturbed is none")
}

// The rounds here end at a read and not at a time, which a busy machine could reach before it.
func TestDeadlineEndsARound(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	s := &source{read: func(nth int, p []byte, _ int64) (int, error) {
		if nth == 12 {
			end(context.DeadlineExceeded)
		}
		p[0] = 1
		return len(p), nil
	}}
	got, err := calm().Round(ctx, probe.Round{Probe: read4k(100), Source: s, Warmup: offsets(2, 0, 4096), Offsets: offsets(100, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeTimeout, got.Outcome)
	assert.Equal(t, "stopped after 10 I/Os: the time for a round was over", got.Reason)
	assert.EqualValues(t, 10, got.Latency.Count())
	assert.Len(t, s.places, 12)
}

func TestDeadlineEndsTheWarmUp(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	s := &source{read: func(_ int, p []byte, _ int64) (int, error) {
		end(context.DeadlineExceeded)
		return len(p), nil
	}}
	got, err := calm().Round(ctx, probe.Round{Probe: read4k(1), Source: s, Warmup: offsets(1000, 0, 4096), Offsets: offsets(1, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeTimeout, got.Outcome)
	assert.Len(t, s.places, 1)
}

// A hung device keeps one thread in the kernel. Everything else continues: the garbage
// collector and other rounds. The guard reports that nothing new may start.
func TestHungDevice(t *testing.T) {
	var pipe [2]int
	require.NoError(t, unix.Pipe(pipe[:]))
	hung := make(chan struct{})
	s := &source{read: func(int, []byte, int64) (int, error) {
		close(hung)
		var b [1]byte
		return unix.Read(pipe[0], b[:]) // blocks in the kernel until something is written
	}}
	var g guard.Guard
	ctx, stop := context.WithCancel(t.Context())
	go func() { // a timeout could pass before the first read, and the round would then return
		<-hung
		stop()
	}()
	_, err := guard.Do(ctx, &g, time.Minute, func(ctx context.Context) (probe.Result, error) {
		return calm().Round(ctx, probe.Round{Probe: read4k(4), Source: s, Offsets: offsets(4, 0, 4096)})
	})
	var hang *guard.HungError
	require.ErrorAs(t, err, &hang)
	runtime.GC()
	got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(16), Source: &source{}, Offsets: offsets(16, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, got.Outcome)
	_, err = guard.Do(t.Context(), &g, time.Minute, func(context.Context) (probe.Result, error) { panic("started a second one") })
	require.ErrorAs(t, err, &hang)
	assert.True(t, hang.Earlier)

	back := make(chan struct{})
	g.Finally(func() { close(back) })
	_, err = unix.Write(pipe[1], []byte{1})
	require.NoError(t, err)
	<-back
	require.NoError(t, unix.Close(pipe[0]))
	require.NoError(t, unix.Close(pipe[1]))
}

func TestGarbageCollectionDuringARound(t *testing.T) {
	f := probeFile(t, t.TempDir())
	start, _ := f.Data()
	s := &source{}
	s.read = func(nth int, p []byte, off int64) (int, error) {
		if nth%50 == 0 {
			runtime.GC()
		}
		return f.ReadAt(p, off)
	}
	p := read4k(500)
	p.QueueDepth = 4
	got, err := calm().Round(t.Context(), probe.Round{Probe: p, Source: s, Offsets: offsets(500, start, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeOK, got.Outcome)
	assert.EqualValues(t, 500, got.Latency.Count())
	assert.Zero(t, got.UnwrittenBlocks)
}

// The kernel's real counters agree with the round, however busy this machine is.
func TestRealMeter(t *testing.T) {
	m, _, err := counters.NewMeter()
	require.NoError(t, err)
	f := probeFile(t, t.TempDir())
	start, _ := f.Data()
	got, err := probe.NewEngine(m, 0.05).Round(t.Context(), probe.Round{Probe: read4k(256), Source: f, Offsets: offsets(256, start, 4096)})
	require.NoError(t, err)
	d := got.Disturbance
	assert.GreaterOrEqual(t, d.CPUWait, time.Duration(0))
	assert.InDelta(t, min(1, d.CPUWait.Seconds()/got.Duration.Seconds()), d.CPUWaitRatio, 1e-9)
	want := record.OutcomeOK
	if d.CPUWaitRatio > 0.05 || d.Throttled > 0 {
		want = record.OutcomeDisturbed
	}
	assert.Equal(t, want, got.Outcome)
}

func TestDirectIOThatIsRefusedIsAnError(t *testing.T) {
	_, err := target.OpenExisting("/proc/version") // procfs has no direct I/O
	require.ErrorIs(t, err, target.ErrNoDirectIO)
}
