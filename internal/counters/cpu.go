package counters

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// CPUTime is the time that all CPUs together have spent since boot (/proc/stat; man 5 proc_stat),
// with a resolution of 10 ms.
type CPUTime struct {
	Busy  time.Duration // working for programs, the kernel and guests
	Idle  time.Duration
	Wait  time.Duration // idle while a task that ran on the CPU waits for I/O
	Steal time.Duration // taken away by the hypervisor
}

// Total returns the sum of all fields.
func (c CPUTime) Total() time.Duration { return c.Busy + c.Idle + c.Wait + c.Steal }

// ReadCPUTime reads the time of all CPUs. For that the kernel generates the whole file, including
// the count of each interrupt, which takes milliseconds on a machine with many CPUs.
func ReadCPUTime(fs sysfs.FS) (CPUTime, error) {
	f, err := fs.Open("/proc/stat")
	if err != nil {
		return CPUTime{}, err
	}
	defer f.Close()
	return parseCPUTime(f)
}

// parseCPUTime parses the first line, "cpu user nice system idle iowait irq softirq steal guest
// guest_nice". The user column includes guest.
func parseCPUTime(r io.Reader) (CPUTime, error) {
	text, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return CPUTime{}, fmt.Errorf("read stat: %w", err)
	}
	fields := strings.Fields(text)
	const columns = 9
	if len(fields) < columns || fields[0] != "cpu" {
		return CPUTime{}, fmt.Errorf("parse stat: the first line is %q, want cpu and at least %d numbers", text, columns-1)
	}
	var c CPUTime
	into := []*time.Duration{&c.Busy, &c.Busy, &c.Busy, &c.Idle, &c.Wait, &c.Busy, &c.Busy, &c.Steal}
	for i, to := range into {
		ticks, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return CPUTime{}, fmt.Errorf("parse stat: %w", err)
		}
		*to += time.Duration(ticks) * (time.Second / userHZ)
	}
	return c, nil
}
