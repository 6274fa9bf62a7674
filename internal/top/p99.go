package top

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// counted holds the histograms in one answer of the daemon, by device id.
type counted struct {
	at time.Time
	of map[string][]record.IOHistogram
}

// recent returns the answers of the last 30 s, the oldest first.
func recent(answers []counted, now counted) []counted {
	answers = append(answers, now)
	return slices.DeleteFunc(answers, func(c counted) bool {
		age := now.at.Sub(c.at)
		return age > record.TrafficWindow || age < 0 // the clock was set back
	})
}

// p99 returns the 99th percentile of the device latency between the oldest and the newest answer, by operation.
// Operations with too few I/Os are left out.
func p99(answers []counted, id string) map[record.Operation]time.Duration {
	if len(answers) < 2 {
		return nil
	}
	var found map[record.Operation]time.Duration
	before := answers[0].of[id]
	for _, h := range answers[len(answers)-1].of[id] {
		if h.Stage != record.StageDevice {
			continue
		}
		i := slices.IndexFunc(before, func(b record.IOHistogram) bool {
			return b.Operation == h.Operation && b.Stage == h.Stage && b.Since.Equal(h.Since)
		})
		then := record.IOHistogram{} // empty if counting has begun since
		if i >= 0 {
			then = before[i]
		}
		if latency, ok := percentile(then, h, 0.99); ok {
			if found == nil {
				found = map[record.Operation]time.Duration{}
			}
			found[h.Operation] = latency
		}
	}
	return found
}

// percentile returns the upper bound of the bucket that holds the given percentile of the I/Os between two
// counts. The bound exceeds the latency by at most 9 %. It returns false when there are too few I/Os.
func percentile(before, now record.IOHistogram, share float64) (time.Duration, bool) {
	all := now.Count() - before.Count()
	if now.Count() < before.Count() || !record.Supported(share, int64(all)) {
		return 0, false
	}
	wanted, sum := record.Rank(share, int64(all)), int64(0)
	for bucket := range record.IOBuckets {
		sum += int64(now.Buckets[bucket] - before.Buckets[bucket])
		if sum >= wanted {
			return time.Duration(record.IOBucketSeconds(bucket) * float64(time.Second)), true
		}
	}
	return 0, false
}
