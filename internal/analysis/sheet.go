package analysis

import (
	"cmp"
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

// Shares compares the best step of each kind with the data sheet. A figure counts only for blocks of the size that it
// is stated for, because IOPS fall and latencies rise with the size. Bandwidths count for larger blocks, too. Latencies
// are compared at depth 1, where manufacturers state them. A spoiled step counts, because its load may be the one that
// reaches the promise, but the share then has its code. A figure that no step measured has no share.
func Shares(steps []record.Step, sheet record.DataSheet) []record.SheetShare {
	steps = calm(steps)
	var shares []record.SheetShare
	for _, f := range []struct {
		kind       kind
		unit       string
		blockBytes int64 // where the sheet names none
		promise    *record.Promise[float64]
	}{
		{kind{record.Read, record.Random}, "IOPS", record.SheetRandomBytes, sheet.RandomReadIOPS},
		{kind{record.Write, record.Random}, "IOPS", record.SheetRandomBytes, sheet.RandomWriteIOPS},
		{kind{record.Read, record.Sequential}, "B/s", record.SheetSequentialBytes, sheet.SequentialReadBytesPerSecond},
		{kind{record.Write, record.Sequential}, "B/s", record.SheetSequentialBytes, sheet.SequentialWriteBytesPerSecond},
	} {
		if p := f.promise; p != nil {
			shares = append(shares, bestRate(steps, f.kind, record.SheetShare{
				Figure: f.kind.String(), Unit: f.unit, BlockBytes: cmp.Or(p.BlockBytes, f.blockBytes), Promised: p.Value,
			}))
		}
	}
	for _, f := range []struct {
		direction record.Direction
		promise   *record.Promise[time.Duration]
	}{{record.Read, sheet.RandomReadLatency}, {record.Write, sheet.RandomWriteLatency}} {
		if p := f.promise; p != nil {
			k := kind{f.direction, record.Random}
			shares = append(shares, bestLatency(steps, k, record.SheetShare{
				Figure: k.String() + " latency", Unit: "s", BlockBytes: cmp.Or(p.BlockBytes, record.SheetRandomBytes), Promised: p.Value.Seconds(),
			}))
		}
	}
	return shares
}

// kind is what a figure of a data sheet is about: "random read".
type kind struct {
	direction record.Direction
	pattern   record.Pattern
}

func (k kind) String() string { return string(k.pattern) + " " + string(k.direction) }

// measures reports whether a step is of a single device, of this kind only, in blocks of the size that the figure is
// for, and bypasses the page cache.
func (k kind) measures(s record.Step, blockBytes int64) bool {
	w := s.Workload
	if !w.OfDrive() || w.Direction != k.direction || w.Pattern != k.pattern || len(s.Parts) > 1 {
		return false
	}
	return w.BlockBytes == blockBytes || k.pattern == record.Sequential && w.BlockBytes > blockBytes
}

func bestRate(steps []record.Step, k kind, share record.SheetShare) record.SheetShare {
	for _, s := range steps {
		if !k.measures(s, share.BlockBytes) {
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

func bestLatency(steps []record.Step, k kind, share record.SheetShare) record.SheetShare {
	for _, s := range steps {
		if !k.measures(s, share.BlockBytes) || s.Workload.InFlight() != 1 {
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
