package finding

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// ofLifetime reports what changes of conditions have made slower together, each by less than is a finding of its own.
func ofLifetime(p record.ProbeStatus) []Finding {
	var evidence []string
	var since time.Time
	slower := record.SlowedUntold(p.Lifetime, StillSlowing(p))
	for _, s := range record.Statistics() {
		l, ok := slower[s]
		if !ok || improved(p, s) {
			continue
		}
		evidence = append(evidence, s.Short()+" "+units.RatioWithin(l.Ratio.Ratio, l.Lower, l.Upper))
		if l.Since.After(since) {
			since = l.Since
		}
	}
	if len(evidence) == 0 {
		return nil
	}
	return []Finding{found(ManyChanges, "slower than it once was, by several changes of conditions", evidence...).from(since)}
}

// improved reports whether a statistic is faster than its baseline.
func improved(p record.ProbeStatus, s record.Statistic) bool {
	return slices.ContainsFunc(p.Drift, func(d record.Drift) bool { return d.Statistic == s && d.State == record.Improved })
}
