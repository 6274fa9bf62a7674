package probe_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// slow makes a round of ten I/Os take at least a known time, so that a CPU wait is at
// most a known share of it.
func slow(_ int, p []byte, _ int64) (int, error) {
	for start := time.Now(); time.Since(start) < time.Millisecond; {
		p[0]++
	}
	p[0] = 1
	return len(p), nil
}

func zeros(_ int, p []byte, _ int64) (int, error) { return len(p), nil }

func failing(_ int, p []byte, off int64) (int, error) {
	if off == 0 {
		return 0, unix.EIO
	}
	return len(p), nil // zeros
}

func TestOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		wait, throttled time.Duration
		read            func(int, []byte, int64) (int, error)
		want            record.Outcome
		reason          string
	}{
		"calm":                      {read: slow, want: record.OutcomeOK},
		"a wait below the limit":    {wait: 100 * time.Microsecond, read: slow, want: record.OutcomeOK},
		"a wait of all the round":   {wait: time.Hour, read: slow, want: record.OutcomeDisturbed, reason: "waited for a CPU for 100.0 % of the round"},
		"throttled":                 {throttled: 3 * time.Millisecond, read: slow, want: record.OutcomeDisturbed, reason: "the CPU quota of the cgroup stopped the process for 3ms"},
		"unmapped says more":        {wait: time.Hour, throttled: time.Second, read: zeros, want: record.OutcomeUnmapped, reason: "10 of 10 blocks read have all bytes equal: never written, so the drive answered from its mapping table"},
		"and errors more than that": {wait: time.Hour, throttled: time.Second, read: failing, want: record.OutcomeError, reason: "I/O errors: EIO × 1"},
	} {
		t.Run(name, func(t *testing.T) {
			e := probe.NewEngine(&meter{wait: test.wait, throttled: test.throttled}, 0.05)
			got, err := e.Round(t.Context(), probe.Round{Probe: read4k(10), Source: &source{read: test.read}, Offsets: offsets(10, 0, 4096)})
			require.NoError(t, err)
			assert.Equal(t, test.want, got.Outcome)
			assert.Equal(t, test.reason, got.Reason)
			assert.Equal(t, test.wait, got.Disturbance.CPUWait)
			assert.Equal(t, test.throttled, got.Disturbance.Throttled)
		})
	}
}

func TestDisturbanceOfOneThread(t *testing.T) {
	m := &meter{wait: time.Millisecond, involuntary: 3}
	got, err := probe.NewEngine(m, 1).Round(t.Context(), probe.Round{Probe: read4k(64), Source: &source{}, Offsets: offsets(64, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.Disturbance{CPUWait: time.Millisecond, CPUWaitRatio: got.Disturbance.CPUWaitRatio, InvoluntarySwitches: 3}, got.Disturbance)
}

// A device whose backing file was truncated fails beyond its new end, like a drive with
// bad blocks.
func TestIOErrorsAreCountedByErrno(t *testing.T) {
	const size, good = 16 << 20, 8 << 20
	loop := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	d := openDevice(t, loop.Path)
	loop.Truncate(t, good)

	mixed := append(offsets(17, 0, 4096), offsets(3, good, 4096)...)
	got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(20), Source: d, Offsets: mixed})
	require.NoError(t, err)
	assert.Equal(t, record.Measurement{
		Probe: "read-4k", Start: got.Start, Outcome: record.OutcomeError, Reason: "I/O errors: EIO × 3", Duration: got.Duration,
		Latency: got.Latency, ReadBytes: 17 * 4096, Errors: map[string]int64{"EIO": 3}, CheckedBlocks: 17,
	}, got.Measurement)
	assert.EqualValues(t, 17, got.Latency.Count(), "failed I/Os have no latency")

	before := blockStat(t, loop.Number)[statReads]
	got, err = calm().Round(t.Context(), probe.Round{Probe: read4k(100), Source: d, Warmup: offsets(100, good, 4096), Offsets: offsets(100, good, 4096)})
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"EIO": 8}, got.Errors, "a drive in trouble is not asked a hundred times more")
	assert.EqualValues(t, 8, blockStat(t, loop.Number)[statReads]-before)
}

func TestAFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(path, make([]byte, 16384), 0o600))
	f, err := target.OpenExisting(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Truncate(path, 4096))
	got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(2), Source: f, Offsets: []int64{0, 8192}})
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"SHORT": 1}, got.Errors)
}

func TestADeviceThatGoesAwayEndsTheRound(t *testing.T) {
	s := &source{read: func(nth int, p []byte, _ int64) (int, error) {
		if nth > 4 {
			return 0, unix.ENODEV
		}
		p[0] = 1
		return len(p), nil
	}}
	got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(100), Source: s, Offsets: offsets(100, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeError, got.Outcome)
	assert.Equal(t, map[string]int64{"ENODEV": 1}, got.Errors)
	assert.Len(t, s.places, 5)
}

// A round that took too long because it did not get a CPU says nothing about the
// device.
func TestATimeoutForWantOfACPU(t *testing.T) {
	t.Parallel()
	for want, wait := range map[record.Outcome]time.Duration{record.OutcomeTimeout: time.Microsecond, record.OutcomeDisturbed: time.Hour} {
		ctx, end := context.WithCancelCause(t.Context())
		s := &source{read: func(_ int, p []byte, off int64) (int, error) {
			end(context.DeadlineExceeded) // the time is over once the first I/O has begun, however busy the machine is
			return slow(0, p, off)
		}}
		got, err := probe.NewEngine(&meter{wait: wait}, 0.05).Round(ctx, probe.Round{Probe: read4k(4), Source: s, Offsets: offsets(4, 0, 4096)})
		require.NoError(t, err)
		assert.Equal(t, want, got.Outcome)
		assert.EqualValues(t, 1, got.Latency.Count())
	}
}

// The counted I/Os of a round that hung in the warm-up take no time. However little their thread waited for a CPU
// then, the device was late.
func TestATimeoutInTheWarmUpIsTheDevices(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	s := &source{read: func(_ int, p []byte, off int64) (int, error) {
		end(context.DeadlineExceeded)
		return slow(0, p, off)
	}}
	p := read4k(4)
	p.Timeout = time.Hour
	got, err := probe.NewEngine(&meter{wait: time.Minute}, 0.05).Round(ctx, probe.Round{Probe: p, Source: s, Warmup: offsets(1, 0, 4096), Offsets: offsets(4, 0, 4096)})
	require.NoError(t, err)
	assert.Equal(t, record.OutcomeTimeout, got.Outcome, got.Reason)
	assert.Zero(t, got.Latency.Count())
}

func TestUnknownErrorsAreCountedToo(t *testing.T) {
	s := &source{read: func(int, []byte, int64) (int, error) { return 0, errBroken }}
	got, err := calm().Round(t.Context(), probe.Round{Probe: read4k(1), Source: s, Offsets: []int64{0}})
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"OTHER": 1}, got.Errors)
}

func TestUnmappedIsMoreThanHalf(t *testing.T) {
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{})
	loop.Write(t, 0, 4<<20)
	d := openDevice(t, loop.Path)
	for _, test := range []struct {
		written, unwritten int
		want               record.Outcome
	}{
		{0, 8, record.OutcomeUnmapped},
		{3, 5, record.OutcomeUnmapped},
		{4, 4, record.OutcomeOK},
		{8, 0, record.OutcomeOK},
	} {
		got, err := calm().Round(t.Context(), probe.Round{
			Probe: read4k(8), Source: d, Offsets: append(offsets(test.written, 0, 4096), offsets(test.unwritten, 8<<20, 4096)...),
		})
		require.NoError(t, err)
		assert.Equal(t, test.want, got.Outcome, "%d written", test.written)
		assert.EqualValues(t, test.unwritten, got.UnwrittenBlocks)
		for i, unwritten := range got.Unwritten {
			assert.Equal(t, i >= test.written, unwritten)
		}
	}
	// Larger blocks are judged by the 4 KiB granules in them.
	p := record.Probe{Name: "read-64k", Direction: record.Read, BlockBytes: 64 << 10, QueueDepth: 1, IOs: 2}
	loop.Write(t, 8<<20+4096, 4096)
	got, err := calm().Round(t.Context(), probe.Round{Probe: p, Source: d, Offsets: []int64{0, 8 << 20}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true}, got.Unwritten)
	assert.EqualValues(t, 32, got.CheckedBlocks)
	assert.EqualValues(t, 15, got.UnwrittenBlocks)
}

func TestLogicalBlocks(t *testing.T) {
	large := testenv.LoopDevice(t, 1<<20, testenv.Options{Random: true, LogicalBlockBytes: 4096})
	small := testenv.LoopDevice(t, 1<<20, testenv.Options{Random: true, LogicalBlockBytes: 512})
	half := record.Probe{Name: "read-512", Direction: record.Read, BlockBytes: 512, QueueDepth: 1, IOs: 4}
	for name, test := range map[string]struct {
		path    string
		probe   record.Probe
		offsets []int64
		want    map[string]int64
	}{
		"4096 on 4096": {large.Path, read4k(4), offsets(4, 4096, 4096), nil},
		"4096 on 512":  {small.Path, read4k(4), offsets(4, 512, 4096), nil},
		"512 on 512":   {small.Path, half, offsets(4, 512, 512), nil},
		"512 on 4096":  {large.Path, half, offsets(4, 512, 512), map[string]int64{"EINVAL": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := calm().Round(t.Context(), probe.Round{Probe: test.probe, Source: openDevice(t, test.path), Offsets: test.offsets})
			require.NoError(t, err)
			assert.Equal(t, test.want, got.Errors)
		})
	}
}
