package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Name is a setting of a device.
type Name string

// The settings.
const (
	// WriteCache is "on" or "off": on NVMe feature 06h, on SCSI and SATA the caching
	// mode page; on other devices what the kernel believes, which decides whether it
	// sends flushes.
	WriteCache Name = "write cache"
	// InterruptCoalescing is "off" or of the form "10/100µs", a number of completions
	// and the time to wait for so many: NVMe feature 08h.
	InterruptCoalescing Name = "interrupt coalescing"
)

const (
	on  = "on"
	off = "off"
)

// ParseCoalescing reads "off", or "10/100µs" with "us" as well, and returns it as
// it is always written.
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

// coalescingText is "off" for what makes no difference to an interrupt each.
func coalescingText(c nvme.InterruptCoalescing) string {
	if c.Threshold == 1 && c.Time == 0 {
		return off
	}
	return fmt.Sprintf("%d/%v", c.Threshold, c.Time)
}
