package drift

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A drive that collects garbage all the time has spikes of that size all day: a nightly job is out of the ordinary
// because it lasts.
func TestANightlyJobIsOutOfTheOrdinaryDespiteSpikes(t *testing.T) {
	blocks, residuals := make([]block, finalBlocks), make([]Shift, finalBlocks)
	for k := range blocks {
		blocks[k].Slot = int64(k)
		if k%6 < 2 {
			residuals[k] += ShiftOf(1.42)
		}
		if k >= 264 { // 22:00
			residuals[k] += ShiftOf(1.5)
		}
	}
	d := learnDaily(blocks, residuals)
	assert.GreaterOrEqual(t, d.Daily[270].Ratio(), 1.49)
	assert.Zero(t, d.Daily[144], "the spikes are noise")
}
