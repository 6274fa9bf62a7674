package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	wantDuration = "a number with its unit (ms, s, m, h or d), e.g. 500ms, 30s, 1h30m, 7d"
	day          = 24 * time.Hour
)

// durationText matches whole days, followed by what time.ParseDuration accepts.
var durationText = regexp.MustCompile(`^(?:(\d+)d)?((?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))*)$`)

// ParseDuration parses a duration in Go's form, which may also begin with whole days (of 24 h): "30s", "1h30m", "7d",
// "1d12h". The result is never negative. The error is a Problem.
func ParseDuration(text string) (time.Duration, error) {
	parts := durationText.FindStringSubmatch(text)
	if text == "" || parts == nil {
		if text != "" && strings.Trim(text, "0123456789.") == "" {
			return 0, Problem{Value: text, Wrong: "has no unit", Want: wantDuration}
		}
		return 0, notA("a duration", text, wantDuration)
	}
	tooLong := Problem{Value: text, Wrong: "is too long for a duration", Want: "at most 106751d"}
	var d time.Duration
	if parts[1] != "" {
		days, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || days > int64(math.MaxInt64/day) {
			return 0, tooLong
		}
		d = time.Duration(days) * day
	}
	if parts[2] != "" {
		rest, err := time.ParseDuration(parts[2])
		if err != nil || rest > math.MaxInt64-d {
			return 0, tooLong
		}
		d += rest
	}
	return d, nil
}

// FormatDuration formats a duration without the parts that are zero: "5m", "1h30m", "7d". ParseDuration parses the
// result unless it is negative.
func FormatDuration(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
