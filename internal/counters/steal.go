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

// userHZ is the number of ticks per second in the files of /proc (man 7 time).
const userHZ = 100

// ReadSteal reads for each online CPU, in order, how long the hypervisor has run something else
// while this machine wanted the CPU (/proc/stat; man 5 proc_stat). The resolution is 10 ms.
func ReadSteal(fs sysfs.FS) ([]time.Duration, error) {
	f, err := fs.Open("/proc/stat")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseSteal(f)
}

// parseSteal parses the lines "cpuN user nice system idle iowait irq softirq steal …", which come
// first.
func parseSteal(r io.Reader) ([]time.Duration, error) {
	const steal = 8
	var all []time.Duration
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu") {
			break
		}
		if fields[0] == "cpu" { // all together
			continue
		}
		if len(fields) <= steal {
			return nil, fmt.Errorf("parse stat: %d columns in %q, want at least %d", len(fields), lines.Text(), steal+1)
		}
		ticks, err := strconv.ParseInt(fields[steal], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse stat: %w", err)
		}
		all = append(all, time.Duration(ticks)*(time.Second/userHZ))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read stat: %w", err)
	}
	return all, nil
}
