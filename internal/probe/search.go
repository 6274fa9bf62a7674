package probe

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// searchTime limits the search of one round on slow devices.
const searchTime = 2 * time.Second

// search reads single blocks to find out whether they have ever been written. It is used for one round.
type search struct {
	source           io.ReaderAt
	deadline         time.Time
	buffer           []byte
	bytes            int64
	checked, uniform int64
	failed           int64
	errors           map[string]int64
	// stalls are the latencies of at least timeout, the longest that a round may take, as on a hung device.
	timeout time.Duration
	stalls  []time.Duration
}

// newSearch returns a search on a source with logical blocks of blockBytes; 0 if unknown.
func newSearch(source io.ReaderAt, blockBytes int64, timeout time.Duration) (*search, error) {
	size := max(granule, int(blockBytes))
	buffer, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map a buffer of %d bytes: %w", size, err)
	}
	return &search{source: source, deadline: time.Now().Add(searchTime), buffer: buffer, timeout: timeout}, nil
}

// over reports whether the search has to end: it is out of time, cancelled, or has met too many I/O errors.
func (s *search) over(ctx context.Context) bool {
	return s.failed >= maxFailed || ctx.Err() != nil || time.Now().After(s.deadline)
}

// written reads the block that contains off: 4 KiB, or one logical block if that is larger. ok is false if the block
// cannot be read.
func (s *search) written(off int64) (written, ok bool) {
	off -= off % int64(len(s.buffer))
	start := time.Now()
	n, err := s.source.ReadAt(s.buffer, off)
	latency := time.Since(start)
	s.bytes += int64(n)
	if err != nil || n < len(s.buffer) {
		if s.errors == nil {
			s.errors = map[string]int64{}
		}
		s.errors[record.ErrorName(err)]++
		s.failed++
		return false, false
	}
	if isStall(latency, s.timeout) {
		s.stalls = append(s.stalls, latency)
	}
	checked, uniform := countUniform(s.buffer)
	s.checked += checked
	s.uniform += uniform
	return 2*uniform <= checked, true
}

// addTo adds the bytes, stalls and errors of the search to the measurement of its round.
func (s *search) addTo(m *record.Measurement) {
	m.ReadBytes += s.bytes
	for _, l := range s.stalls {
		m.Latency = record.Merge(m.Latency, record.Histogram{{Latency: l, Count: 1}})
	}
	if s.failed == 0 {
		return
	}
	if m.Errors == nil {
		m.Errors = map[string]int64{}
	}
	for name, n := range s.errors {
		m.Errors[name] += n
	}
	if m.Outcome != record.OutcomeTimeout {
		m.Outcome, m.Reason = record.OutcomeError, "I/O errors: "+describe(m.Errors)
	}
}

// release unmaps the buffer. The mapping is complete and belongs to this process, so that cannot fail.
func (s *search) release() { _ = unix.Munmap(s.buffer) }
