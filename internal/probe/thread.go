package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// maxFailed is how many failed I/Os end a round: a drive in trouble should not get
	// a hundred more.
	maxFailed = 8
)

// thread is the working memory and the results of one unit of queue depth.
type thread struct {
	buffer                  []byte
	warmup, counted         []time.Duration
	end                     time.Time
	wait                    time.Duration
	involuntary             int64
	readBytes, writtenBytes int64
	checked, uniform        int64
	errors                  map[string]int64
}

// do executes one I/O and returns its latency and whether it succeeded. If unwritten is
// not nil, do sets it to whether most of the block was never written.
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
		checked, uniform := countUniform(t.buffer)
		t.checked += checked
		t.uniform += uniform
		*unwritten = 2*uniform > checked
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
