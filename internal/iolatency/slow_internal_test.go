package iolatency

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSlowEventIsThatOfThePrograms(t *testing.T) {
	assert.Equal(t, slowBytes, binary.Size(slowEvent{}))
}

// A storm of slow I/Os raises the threshold and calm lowers it, so that a few are always reported.
func TestWhatIsSlowFollowsTheDevice(t *testing.T) {
	d := threshold{slow: firstSlow}
	for range 3 {
		d.next(mostTold)
	}
	assert.Equal(t, 8*firstSlow, d.slow)
	for range 100 {
		d.next(1)
	}
	assert.Equal(t, 8*firstSlow, d.slow, "a few are wanted")
	for range calmSeconds - 1 {
		d.next(0)
	}
	assert.Equal(t, 8*firstSlow, d.slow)
	d.next(0)
	assert.Equal(t, 4*firstSlow, d.slow)
	for range 100 * calmSeconds {
		d.next(0)
	}
	assert.Equal(t, leastSlow, d.slow)
}
