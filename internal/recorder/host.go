package recorder

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// costShare is the largest share of the time that reading a file may take. A file that takes longer is read
// less often than once a second.
const costShare = 1e-3

// HostReader reads what a host does. It must not be used by several goroutines at once.
type HostReader struct {
	fs       sysfs.FS
	pressure source[counters.Pressure]
	cpu      source[counters.CPUTime]
}

// NewHostReader returns a reader of the host with these files.
func NewHostReader(fs sysfs.FS) *HostReader { return &HostReader{fs: fs} }

// source is one file.
type source[T any] struct {
	last T
	at   time.Time // when last was read; zero when that failed
	due  time.Time
}

// read reads the source when it is due. It returns the value read before, the value read now, and the time
// between the two; ok is false unless both are available.
func (s *source[T]) read(now time.Time, read func() (T, error)) (before, after T, span time.Duration, ok bool) {
	if now.Before(s.due) {
		return before, after, 0, false
	}
	v, err := read()
	s.due = now.Add(time.Duration(float64(time.Since(now)) / costShare))
	before, last := s.last, s.at
	s.last, s.at = v, now
	if err != nil {
		s.at = time.Time{}
		return before, after, 0, false
	}
	return before, v, now.Sub(last), !last.IsZero()
}

// Read returns what the host has done since the last call.
func (h *HostReader) Read() Host {
	host := Host{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	before, after, span, ok := h.pressure.read(time.Now(), func() (counters.Pressure, error) { return counters.ReadIOPressure(h.fs) })
	if ok && span > 0 {
		host.IOPressureSome = share(after.Some.Total-before.Some.Total, span)
		host.IOPressureFull = share(after.Full.Total-before.Full.Total, span)
	}
	was, is, _, ok := h.cpu.read(time.Now(), func() (counters.CPUTime, error) { return counters.ReadCPUTime(h.fs) })
	if all := is.Total() - was.Total(); ok && all > 0 {
		host.CPUBusy, host.CPUWait, host.CPUSteal = share(is.Busy-was.Busy, all), share(is.Wait-was.Wait, all), share(is.Steal-was.Steal, all)
	}
	return host
}

// share returns part as a share of span. It is limited to 0 to 1, because counters of the kernel may run
// backwards a little.
func share(part, span time.Duration) float64 { return max(0, min(1, part.Seconds()/span.Seconds())) }
