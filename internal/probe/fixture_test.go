package probe_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// meter returns the values that the test sets: every reading adds the same amount.
type meter struct {
	wait, throttled time.Duration
	involuntary     int64
	err             error
	threads, quotas atomic.Int64 // readings so far
}

func (m *meter) Thread() (time.Duration, int64, error) {
	n := m.threads.Add(1)
	return time.Duration(n) * m.wait, n * m.involuntary, m.err
}

func (m *meter) Throttled() (time.Duration, error) {
	return time.Duration(m.quotas.Add(1)) * m.throttled, nil
}

// calm returns an engine on a machine where nothing disturbs a round.
func calm() *probe.Engine { return probe.NewEngine(&meter{}, 0.05) }

// read4k returns a probe of n I/Os of 4 KiB.
func read4k(n int) record.Probe {
	return record.Probe{Name: "read-4k", Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 1, IOs: n}
}

// probeFile returns a probe file of 16 MiB on a real filesystem.
func probeFile(t *testing.T, dir string) *target.File {
	t.Helper()
	f, err := target.PrepareFile(t.Context(), dir, target.FileOptions{SizeBytes: 16 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// fileProber returns a prober for a whole probe file.
func fileProber(f *target.File, seed uint64) *probe.Prober {
	start, length := f.Data()
	return probe.NewFileProber(calm(), f, f, probe.Area{Start: start, Size: length}, seed)
}

// openDevice opens a block device for the duration of the test.
func openDevice(t *testing.T, path string) *target.Device {
	t.Helper()
	d, err := target.OpenDevice(path, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// offsets returns the offsets of n consecutive blocks of size, beginning at start.
func offsets(n int, start, size int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = start + int64(i)*size
	}
	return list
}

// source answers reads by calling a function, and records their offsets.
type source struct {
	mu     sync.Mutex
	places []int64
	read   func(nth int, p []byte, off int64) (int, error) // nil: fills p with nonzero bytes
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.places = append(s.places, off)
	nth := len(s.places)
	s.mu.Unlock()
	if s.read != nil {
		return s.read(nth, p, off)
	}
	for i := 0; i < len(p); i += 4096 {
		p[i] = 1
	}
	return len(p), nil
}

// number returns the number behind name in a file of "name: number" lines.
func number(t *testing.T, file, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			require.NoError(t, err)
			return n
		}
	}
	require.FailNow(t, "not there", "%s in %s", name, file)
	return 0
}

// blockStat returns the columns of a device's stat file
// (Documentation/block/stat.rst in the kernel's tree).
func blockStat(t *testing.T, deviceNumber string) []int64 {
	t.Helper()
	text, err := os.ReadFile("/sys/dev/block/" + deviceNumber + "/stat")
	require.NoError(t, err)
	var columns []int64
	for _, field := range strings.Fields(string(text)) {
		n, err := strconv.ParseInt(field, 10, 64)
		require.NoError(t, err)
		columns = append(columns, n)
	}
	return columns
}

// Columns of a stat file.
const (
	statReads       = 0
	statReadSectors = 2
	statFlushes     = 15
)

var errBroken = errors.New("broken")
