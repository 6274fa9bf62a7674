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

// Meter tells the engine what the kernel says of its own threads and cgroup. It
// reads this process's own /proc, which in a container is not the host's.
type Meter struct {
	fs     sysfs.FS
	cgroup CGroup
	// threads and quotas are false where the kernel does not tell.
	threads, quotas bool
}

// NewMeter returns a meter of this process, and a warning for each thing that
// this kernel does not tell and that measurements will therefore not know.
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

// blind turns off what the kernel does not offer and passes on other errors.
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

// IOLimited returns a warning when the cgroup limits this process's I/O on the
// device of that number ("259:0"): what it measures is then the limit. Where
// limits cannot be read there are none to warn of, as NewMeter has said.
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
