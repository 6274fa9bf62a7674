package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ParseIOPS parses I/Os per second as data sheets state them: "2000k IOPS", "1.9M", "850000".
func ParseIOPS(text string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "IOPS"))
	factor := 1.0
	for unit, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6} {
		if trimmed, ok := strings.CutSuffix(number, unit); ok {
			number, factor = strings.TrimSpace(trimmed), f
			break
		}
	}
	return positive(number, factor, text, `want I/Os per second, e.g. "2000k IOPS"`)
}

// ParseRate parses bytes per second as data sheets state them: "14000 MB/s", "3.5 GB/s".
func ParseRate(text string) (float64, error) {
	const want = `want decimal bytes per second, e.g. "14000 MB/s"`
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "B/s")
	if !ok || number == "" {
		return 0, fmt.Errorf("%q: %s", text, want)
	}
	factor := 1.0
	if i := strings.IndexByte("kMGT", number[len(number)-1]); i >= 0 {
		factor = []float64{1e3, 1e6, 1e9, 1e12}[i]
		number = number[:len(number)-1]
	}
	return positive(strings.TrimSpace(number), factor, text, want)
}

func positive(number string, factor float64, text, want string) (float64, error) {
	const most = 1e15 // rejects infinities as well as typing errors
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*factor > most {
		return 0, fmt.Errorf("%q: %s", text, want)
	}
	return v * factor, nil
}

// ParseLatency parses a latency as data sheets state it: "85us", "85 us".
func ParseLatency(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf(`%q: want a time, e.g. "85us"`, text)
	}
	return d, nil
}

// Shares compares the best step of each kind with the data sheet. Latencies are compared at depth
// 1, where manufacturers state them. A spoiled step counts, because its load may be the one that reaches the
// promise, but the share then has its code. A figure that no step measured has no share.
func Shares(steps []record.Step, sheet record.DataSheet) []record.SheetShare {
	var shares []record.SheetShare
	for _, f := range []struct {
		figure    string
		unit      string
		direction record.Direction
		pattern   record.Pattern
		promised  *float64
	}{
		{"random read", "IOPS", record.Read, record.Random, sheet.RandomReadIOPS},
		{"random write", "IOPS", record.Write, record.Random, sheet.RandomWriteIOPS},
		{"sequential read", "B/s", record.Read, record.Sequential, sheet.SequentialReadBytesPerSecond},
		{"sequential write", "B/s", record.Write, record.Sequential, sheet.SequentialWriteBytesPerSecond},
	} {
		if f.promised != nil {
			shares = append(shares, bestRate(steps, f.direction, f.pattern, record.SheetShare{Figure: f.figure, Unit: f.unit, Promised: *f.promised}))
		}
	}
	if sheet.RandomReadLatency != nil {
		shares = append(shares, bestLatency(steps, record.Read, record.SheetShare{Figure: "random read latency", Unit: "s", Promised: sheet.RandomReadLatency.Seconds()}))
	}
	if sheet.RandomWriteLatency != nil {
		shares = append(shares, bestLatency(steps, record.Write, record.SheetShare{Figure: "random write latency", Unit: "s", Promised: sheet.RandomWriteLatency.Seconds()}))
	}
	return shares
}

// pure reports whether a step is of a single device, direction and pattern, and bypasses the page
// cache.
func pure(s record.Step, d record.Direction, p record.Pattern) bool {
	return s.Workload.OfDrive() && s.Workload.Direction == d && s.Workload.Pattern == p && len(s.Parts) <= 1
}

func bestRate(steps []record.Step, d record.Direction, p record.Pattern, share record.SheetShare) record.SheetShare {
	for _, s := range calm(steps) {
		if !pure(s, d, p) {
			continue
		}
		share.Codes = addSpoiled(share.Codes, s)
		if rate, _ := rateOf(*s.Workload, s); share.Step == "" || rate > share.Measured {
			share.Measured, share.Step = rate, s.Name
		}
	}
	share.Share = share.Measured / share.Promised
	return share
}

func bestLatency(steps []record.Step, d record.Direction, share record.SheetShare) record.SheetShare {
	for _, s := range calm(steps) {
		if !pure(s, d, record.Random) || s.Workload.InFlight() != 1 {
			continue
		}
		share.Codes = addSpoiled(share.Codes, s)
		if mean := results(s)[0].Mean.Seconds(); share.Step == "" || mean < share.Measured {
			share.Measured, share.Step = mean, s.Name
		}
	}
	if share.Measured > 0 {
		share.Share = share.Promised / share.Measured
	}
	return share
}
