package top

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// counted are the histograms of all devices in one answer of the daemon, by the ids of the devices.
type counted struct {
	at time.Time
	of map[string][]record.IOHistogram
}

// recent keeps the answers of the last half minute, the oldest first.
func recent(answers []counted, now counted) []counted {
	answers = append(answers, now)
	return slices.DeleteFunc(answers, func(c counted) bool {
		age := now.at.Sub(c.at)
		return age > record.TrafficWindow || age < 0 // the clock was set back
	})
}

// p99 is, by operation, the 99th percentile of the time that I/Os took in the device between the oldest and the newest
// answer, where enough of them stand for it.
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
		then := record.IOHistogram{} // counting has begun since
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

// percentile is the upper bound of the bucket that a share of the I/Os between two counts is in or below: at most 9 %
// more than their latency. It is false when too few I/Os stand for it.
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
