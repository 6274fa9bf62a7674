package counters

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Meter reads for the engine what the kernel reports about the engine's own threads and
// cgroup. It reads this process's own /proc, which in a container is not the host's.
type Meter struct {
	fs     sysfs.FS
	cgroup CGroup
	// threads and quotas are false if the kernel does not report them.
	threads, quotas bool
}

// NewMeter returns a meter of this process, and a warning for each value that this
// kernel does not report and that measurements therefore lack.
func NewMeter() (*Meter, []record.Warning, error) {
	m := &Meter{fs: sysfs.New("/"), threads: true, quotas: true}
	runtime.LockOSThread()
	_, _, err := m.Thread()
	runtime.UnlockOSThread()
	var warnings []record.Warning
	if err := blind(err, record.WarnDisturbanceBlind, "/proc/thread-self/schedstat", &m.threads, &warnings); err != nil {
		return nil, nil, err
	}
	if m.cgroup, err = FindCGroup(m.fs); err == nil {
		_, err = m.Throttled()
	}
	if err := blind(err, record.WarnThrottleBlind, "the cgroup's cpu.stat", &m.quotas, &warnings); err != nil {
		return nil, nil, err
	}
	return m, warnings, nil
}

// blind switches off a value that the kernel does not offer, with a warning, and
// returns other errors.
func blind(err error, code, what string, on *bool, warnings *[]record.Warning) error {
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("read %s: %w", what, err)
	}
	*on = false
	*warnings = append(*warnings, record.Warning{
		Code: code,
		Text: fmt.Sprintf("%s cannot be read here (%v): rounds that waited for a CPU are not noticed", what, err),
	})
	return nil
}

// Thread returns how long the calling thread has waited for a CPU so far, and
// how often it lost one.
func (m *Meter) Thread() (time.Duration, int64, error) {
	if !m.threads {
		return 0, 0, nil
	}
	t, err := ReadThread(m.fs)
	return t.Wait, t.InvoluntarySwitches, err
}

// Throttled returns how long CPU quotas have stopped this process so far.
func (m *Meter) Throttled() (time.Duration, error) {
	if !m.quotas {
		return 0, nil
	}
	return m.cgroup.Throttled()
}

// IOLimited returns a warning when the cgroup limits this process's I/O on the device
// with the given number ("259:0"), because measurements then show the limit. If the
// limits cannot be read it returns no warning, since NewMeter has warned of that.
func (m *Meter) IOLimited(number string) (record.Warning, bool) {
	limits, err := m.cgroup.IOLimits(number)
	if err != nil || len(limits) == 0 {
		return record.Warning{}, false
	}
	return record.Warning{
		Code: record.WarnIOLimited,
		Text: fmt.Sprintf("%s limits this process on the device to %s",
			limits[0].File, limits[0].Limit),
	}, true
}
