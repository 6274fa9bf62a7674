package target

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAFillLeavesTimeForOthers(t *testing.T) {
	const rate, mib = 128 << 20, 1 << 20
	for name, c := range map[string]struct {
		since, took, want time.Duration
	}{
		"a fast drive is as fast as the rate":           {time.Second, time.Millisecond, time.Second},
		"a slow drive has half of its time for others":  {10 * time.Second, 20 * time.Millisecond, 20 * time.Millisecond},
		"a drive that hung for a minute":                {70 * time.Second, time.Minute, longestRest},
		"a write that took long does not count as rest": {2 * time.Second, time.Second, time.Second},
	} {
		assert.Equal(t, c.want, rest(256*mib, rate, c.since, c.took), name)
	}
}
