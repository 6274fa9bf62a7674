package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A source that was not judged before the drive got slow does not say when the drive was last compared.
func TestAHeldVerdictWasComparedWhenThereWasEvidence(t *testing.T) {
	seen := time.Date(2026, 11, 28, 1, 1, 0, 0, time.UTC)
	for name, c := range map[string]struct{ since, want time.Time }{
		"before":  {seen.Add(-26 * time.Minute), seen},
		"after":   {seen.Add(time.Minute), seen.Add(time.Minute)},
		"unknown": {time.Time{}, seen},
	} {
		d := &drive{told: record.Judgement{Verdict: record.Degraded}, degraded: recurrence{seen: seen, hold: time.Hour}}
		why := record.WhyUnjudged{Reason: record.ReasonLearning, Since: c.since}
		v := d.held(record.Judgement{Verdict: record.Unjudged, Unjudged: &why}, seen.Add(5*time.Minute))
		assert.Equal(t, record.Degraded, v.Verdict, name)
		assert.Equal(t, &record.WhyUnjudged{Reason: record.ReasonLearning, Since: c.want}, v.Unjudged, name)
		assert.Equal(t, c.since, why.Since, name)
	}
}
