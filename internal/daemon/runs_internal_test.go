package daemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A time with a monotonic reading is compared by that, and is then never after one from before the clock was set back.
func TestTheCalendarGoesByTheWallClock(t *testing.T) {
	now := wallClock()
	assert.Equal(t, now.Round(0), now)
}
