package health

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Recent is what counters of one controller have grown by in the last day: the alerts look as far back, and a counter
// says nothing of when it grew. The zero value is that of a controller that was never read.
type Recent struct {
	last *record.Health
	// steps are those in which something grew, the oldest first.
	steps []growth
}

type growth struct {
	at          time.Time
	mediaErrors uint64
	// Time above the warning and the critical temperature.
	warm, hot time.Duration
}

// add takes a reading, and returns the one before it: nil when there was none of this drive.
func (r *Recent) add(now record.Health) (before *record.Health) {
	before, r.last = r.last, &now
	if before == nil || before.Identity.Serial != now.Identity.Serial {
		r.steps = nil
		return nil
	}
	step := growth{
		at:   now.Time,
		warm: longer(before.WarningTemperatureTime, now.WarningTemperatureTime),
		hot:  longer(before.CriticalTemperatureTime, now.CriticalTemperatureTime),
	}
	if now.MediaErrors > before.MediaErrors {
		step.mediaErrors = now.MediaErrors - before.MediaErrors
	}
	if step != (growth{at: now.Time}) {
		r.steps = append(r.steps, step)
	}
	r.steps = slices.DeleteFunc(r.steps, func(s growth) bool { return now.Time.Sub(s.at) >= 24*time.Hour })
	return before
}

// since sums up what grew later than at a time.
func (r *Recent) since(t time.Time) (sum growth) {
	for _, s := range r.steps {
		if s.at.After(t) {
			sum.mediaErrors += s.mediaErrors
			sum.warm += s.warm
			sum.hot += s.hot
		}
	}
	return sum
}

// longer is 0 where a counter is not known, or began anew.
func longer(before, now *time.Duration) time.Duration {
	if before == nil || now == nil {
		return 0
	}
	return max(0, *now-*before)
}
