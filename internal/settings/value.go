package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Name is the name of a setting.
type Name string

// The settings.
const (
	// WriteCache is "on" or "off". On NVMe it is feature 06h, on SCSI and SATA the
	// caching mode page. On other devices it is the kernel's assumption, by which the
	// kernel decides whether to send flushes.
	WriteCache Name = "write cache"
	// InterruptCoalescing is "off" or has the form "10/100µs", a number of completions
	// and the time to wait for them: NVMe feature 08h.
	InterruptCoalescing Name = "interrupt coalescing"
)

const (
	on  = "on"
	off = "off"
)

// ParseCoalescing parses "off" or a value such as "10/100µs" or "10/100us", and returns
// its canonical form.
func ParseCoalescing(text string) (string, error) {
	c, err := coalescing(text)
	if err != nil {
		return "", err
	}
	return coalescingText(c), nil
}

func coalescing(text string) (nvme.InterruptCoalescing, error) {
	const unit, most = 100 * time.Microsecond, 255
	if text == off {
		return nvme.InterruptCoalescing{Threshold: 1}, nil
	}
	count, span, _ := strings.Cut(text, "/")
	threshold, err := strconv.Atoi(count)
	wait, errWait := time.ParseDuration(span)
	if err != nil || errWait != nil || threshold < 1 || threshold > 256 || wait < 0 || wait > most*unit || wait%unit != 0 {
		return nvme.InterruptCoalescing{}, fmt.Errorf(
			`%q is not valid; want off, or completions (1 to 256) and a time (a multiple of 100us up to 25.5ms) as in "10/100us"`, text)
	}
	return nvme.InterruptCoalescing{Threshold: threshold, Time: wait}, nil
}

// coalescingText returns "off" for values that have the same effect as one interrupt
// per completion.
func coalescingText(c nvme.InterruptCoalescing) string {
	if c.Threshold == 1 && c.Time == 0 {
		return off
	}
	return fmt.Sprintf("%d/%v", c.Threshold, c.Time)
}
