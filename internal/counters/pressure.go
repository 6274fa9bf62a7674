package counters

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Pressure says how much tasks of the host wait for a resource, I/O or CPU
// (Documentation/accounting/psi.rst).
type Pressure struct {
	Some Stall // at least one task waits
	Full Stall // all tasks that could run wait
}

// Stall is one line of a pressure file.
type Stall struct {
	// Average10, Average60 and Average300 are shares (0 to 1) of the last 10, 60
	// and 300 seconds.
	Average10  float64
	Average60  float64
	Average300 float64
	Total      time.Duration // since boot
}

// ReadIOPressure reads /proc/pressure/io. The error matches os.ErrNotExist if the
// kernel was built or booted without pressure information.
func ReadIOPressure(fs sysfs.FS) (Pressure, error) {
	return readPressure(fs, "/proc/pressure/io", "some", "full")
}

// ReadCPUPressure reads /proc/pressure/cpu. Full means nothing there, and is absent before Linux 5.13. Its errors are
// those of ReadIOPressure.
func ReadCPUPressure(fs sysfs.FS) (Pressure, error) {
	return readPressure(fs, "/proc/pressure/cpu", "some")
}

func readPressure(fs sysfs.FS, name string, lines ...string) (Pressure, error) {
	f, err := fs.Open(name)
	if err != nil {
		return Pressure{}, noPressure(err)
	}
	defer f.Close()
	p, err := ParsePressure(f, lines...)
	return p, noPressure(err)
}

// noPressure makes EOPNOTSUPP match os.ErrNotExist as well. A kernel with pressure
// information built in but switched off (psi=0) returns it.
func noPressure(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", err, os.ErrNotExist)
	}
	return err
}

// ParsePressure parses the format of /proc/pressure/io. The wanted lines, "some" or "full", must
// be there; unknown lines and values are ignored.
func ParsePressure(r io.Reader, wanted ...string) (Pressure, error) {
	var p Pressure
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		kind, values, _ := strings.Cut(lines.Text(), " ")
		into := map[string]*Stall{"some": &p.Some, "full": &p.Full}[kind]
		if into == nil {
			continue
		}
		stall, err := parseStall(values)
		if err != nil {
			return Pressure{}, fmt.Errorf("parse pressure: line %q: %w", lines.Text(), err)
		}
		*into, seen[kind] = stall, true
	}
	if err := lines.Err(); err != nil {
		return Pressure{}, fmt.Errorf("read pressure: %w", err)
	}
	for _, kind := range wanted {
		if !seen[kind] {
			return Pressure{}, fmt.Errorf("parse pressure: a line for %s is needed", kind)
		}
	}
	return p, nil
}

func parseStall(values string) (Stall, error) {
	var s Stall
	averages := map[string]*float64{"avg10": &s.Average10, "avg60": &s.Average60, "avg300": &s.Average300}
	missing := len(averages) + 1
	for _, field := range strings.Fields(values) {
		key, value, _ := strings.Cut(field, "=")
		if into, ok := averages[key]; ok {
			percent, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return Stall{}, err
			}
			// The kernel's average can exceed 100 by a rounding error; NaN compares false.
			if !(percent >= 0 && percent < 101) {
				return Stall{}, fmt.Errorf("%s is not a percentage", field)
			}
			*into = min(percent/100, 1)
			missing--
		}
		if key == "total" {
			micros, err := strconv.ParseUint(value, 10, 63)
			if err != nil {
				return Stall{}, err
			}
			s.Total = time.Duration(micros) * time.Microsecond
			if s.Total/time.Microsecond != time.Duration(micros) {
				return Stall{}, fmt.Errorf("%s is too long", field)
			}
			missing--
		}
	}
	if missing != 0 {
		return Stall{}, errors.New("want avg10, avg60, avg300 and total once each")
	}
	return s, nil
}
