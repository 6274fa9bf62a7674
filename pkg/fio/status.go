package fio

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Status is fio's report on a run in progress, with --eta=always, on a line such as
//
//	Jobs: 2 (f=2): [m(2)][60.0%][r=94.4MiB/s,w=93.9MiB/s][r=24.2k,w=24.0k IOPS][eta 00m:02s]
type Status struct {
	// Running is the number of jobs that have begun and not ended.
	Running int
	// Done is fio's estimate of the share (0 to 1) that is done; nil in the first
	// seconds and in the ramp time.
	Done *float64
	// Remaining is fio's estimate of the remaining time, in whole seconds; nil when it has none.
	Remaining *time.Duration
	// Rates holds the rates of about the last half second; nil when fio gives none.
	Rates *Rates
}

// Rates holds I/Os and bytes per second, which fio rounds to three or four digits for
// display. A direction without I/O is 0.
type Rates struct {
	ReadIOPS, WriteIOPS                     float64
	ReadBytesPerSecond, WriteBytesPerSecond float64
}

// ParseStatus reads one line of fio's status output, without its line ending. It
// reports false for any other line.
func ParseStatus(line string) (Status, bool) {
	head := regexp.MustCompile(`^Jobs: (\d{1,9}) \(f=\d+\)`).FindStringSubmatch(line)
	if head == nil {
		return Status{}, false
	}
	running, err := strconv.Atoi(head[1])
	if err != nil {
		return Status{}, false
	}
	s := Status{Running: running}
	var rates Rates
	for _, part := range regexp.MustCompile(`\[([^\[\]]*)\]`).FindAllStringSubmatch(line, -1) {
		switch text := part[1]; {
		case strings.HasSuffix(text, "%"):
			s.Done = parseShare(strings.TrimSuffix(text, "%"))
		case strings.HasPrefix(text, "eta "):
			s.Remaining = parseETA(strings.TrimPrefix(text, "eta "))
		case strings.HasSuffix(text, " IOPS"):
			if parseRates(strings.TrimSuffix(text, " IOPS"), "", &rates.ReadIOPS, &rates.WriteIOPS) {
				s.Rates = &rates
			}
		default:
			if parseRates(text, "B/s", &rates.ReadBytesPerSecond, &rates.WriteBytesPerSecond) {
				s.Rates = &rates
			}
		}
	}
	return s, true
}

// parseShare returns nil for "-.-", which stands for an unknown share.
func parseShare(percent string) *float64 {
	share, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(share >= 0 && share <= 100) {
		return nil
	}
	return new(share / 100)
}

// parseETA reads "00m:05s" and "01d:02h:00m:05s". It returns nil for the 136 years that
// fio shows before it has an estimate.
func parseETA(text string) *time.Duration {
	var eta time.Duration
	for part := range strings.SplitSeq(text, ":") {
		if part == "" {
			return nil
		}
		unit, known := map[byte]time.Duration{
			'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second,
		}[part[len(part)-1]]
		n, err := strconv.ParseUint(part[:len(part)-1], 10, 16)
		if !known || err != nil {
			return nil
		}
		eta += time.Duration(n) * unit
	}
	if eta >= math.MaxInt32*time.Second {
		return nil
	}
	return &eta
}

// parseRates reads "r=24.2k,w=24.0k", each followed by unit.
func parseRates(text, unit string, read, write *float64) bool {
	found := false
	for part := range strings.SplitSeq(text, ",") {
		direction, number, _ := strings.Cut(part, "=")
		number, ofUnit := strings.CutSuffix(number, unit)
		rate, ok := parseScaled(number)
		switch {
		case !ofUnit || !ok:
			return false
		case direction == "r":
			*read, found = rate, true
		case direction == "w":
			*write, found = rate, true
		}
	}
	return found
}

// parseScaled reads "24.2k" and "94.4Mi".
func parseScaled(text string) (float64, bool) {
	digits := strings.TrimRight(text, "KkMGTPEi")
	prefix, binary := strings.CutSuffix(text[len(digits):], "i")
	step := 1000.0
	if binary {
		step = 1024
	}
	power := strings.Index("KMGTPE", strings.ToUpper(prefix)) + 1
	if prefix == "" {
		power = 0
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || len(prefix) > 1 || power < 0 || n < 0 || math.IsNaN(n) || math.IsInf(n, 0) || binary && prefix == "" {
		return 0, false
	}
	return n * math.Pow(step, float64(power)), true
}
