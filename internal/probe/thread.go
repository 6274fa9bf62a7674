package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// granule is the unit in which blocks are checked for being written: drives
	// map nothing smaller.
	granule = 4096
	// maxFailed is how many failed I/Os end a round: a drive in trouble is not to
	// be asked a hundred times more.
	maxFailed = 8
)

// thread is what one unit of queue depth works with and what it saw.
type thread struct {
	buffer                  []byte
	warmup, counted         []time.Duration
	end                     time.Time
	wait                    time.Duration
	involuntary             int64
	readBytes, writtenBytes int64
	checked, zero           int64
	errors                  map[string]int64
}

// do executes one I/O and returns its latency and whether it succeeded. When
// unwritten is not nil it tells whether most of what was read is zero.
func (x *execution) do(t *thread, off int64, unwritten *bool) (time.Duration, bool) {
	if x.Probe.Direction == record.Write {
		return x.write(t, off)
	}
	start := time.Now()
	n, err := x.Source.ReadAt(t.buffer, off)
	latency := time.Since(start)
	t.readBytes += int64(n)
	if err != nil || n < len(t.buffer) {
		x.fail(t, err)
		return 0, false
	}
	if unwritten != nil {
		checked, zero := countZero(t.buffer)
		t.checked += checked
		t.zero += zero
		*unwritten = 2*zero > checked
	}
	return latency, true
}

func (x *execution) write(t *thread, off int64) (time.Duration, bool) {
	x.Sink.Content(t.buffer, off)
	start := time.Now()
	n, err := x.Sink.WriteAt(t.buffer, off)
	if err == nil && x.Probe.Datasync {
		err = x.Sink.Datasync()
	}
	latency := time.Since(start)
	t.writtenBytes += int64(n)
	if err != nil || n < len(t.buffer) {
		x.fail(t, err)
		return 0, false
	}
	return latency, true
}

func (x *execution) fail(t *thread, err error) {
	if t.errors == nil {
		t.errors = map[string]int64{}
	}
	t.errors[record.ErrorName(err)]++
	x.failed.Add(1)
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ESTALE) {
		x.gone.Store(true)
	}
}

func describe(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name, n := range counts {
		names = append(names, fmt.Sprintf("%s × %d", name, n))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// countZero returns how many granules p has and how many of them are all zero.
func countZero(p []byte) (checked, zero int64) {
	for len(p) > 0 {
		n := min(granule, len(p))
		checked++
		if isZero(p[:n]) {
			zero++
		}
		p = p[n:]
	}
	return checked, zero
}

// isZero looks at eight bytes at a time; written data ends it at once. The
// length of p is a multiple of 512.
func isZero(p []byte) bool {
	for len(p) >= 8 {
		if binary.LittleEndian.Uint64(p) != 0 {
			return false
		}
		p = p[8:]
	}
	return true
}
