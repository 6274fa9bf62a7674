package admit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHourly(t *testing.T) {
	t.Parallel()
	var h Hourly
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for range 3 {
		assert.True(t, h.Take(now, 3))
		now = now.Add(10 * time.Minute)
	}
	assert.False(t, h.Take(now, 3))
	assert.False(t, h.Take(now, 0))
	assert.True(t, h.Take(now.Add(30*time.Minute), 3), "an hour after the first")
	assert.False(t, h.Take(now.Add(30*time.Minute), 3))
	assert.Len(t, h.done, 3, "it does not grow")
}
