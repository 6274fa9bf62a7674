package drift

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// levels returns blocks whose first two statistics are at a level that depends on the load. Loads are 0 to 600 thousandths.
func levels(at func(load int) Shift) []block {
	blocks := make([]block, finalBlocks)
	for i := range blocks {
		load := i * 600 / finalBlocks
		x := at(load)
		blocks[i] = block{Slot: int64(i), Rounds: 5, Load: load, Level: Shifts{x, x}}
	}
	return blocks
}

func TestTheMostAllowanceIsTwice(t *testing.T) { assert.InDelta(t, 2, mostAllowance.Ratio(), 1e-4) }

func TestACurveIsAsSteepAsLoadMakesIt(t *testing.T) {
	asAQueue := levels(func(load int) Shift { return queue(0, load) })
	c := learnCurve(asAQueue, 0)
	assert.InDelta(t, queue(100, 500).Ratio(), (c.at(500) - c.at(100)).Ratio(), 0.05)

	// A job that runs at the highest load makes the drive 1.6 times slower.
	job := levels(func(load int) Shift {
		if load > 300 {
			return ShiftOf(1.6)
		}
		return 0
	})
	c = learnCurve(job, 0)
	assert.InDelta(t, 1, c.at(200).Ratio(), 0.02)
	assert.LessOrEqual(t, c.at(360)-c.at(240), steepestRise*queue(240, 360))
	tail := learnCurve(job, 1)
	assert.Greater(t, tail.at(360)-tail.at(240), c.at(360)-c.at(240), "a tail grows faster")
}

// The lowest part of a curve may be higher than the rest, as idle hosts sleep. It does not rise further below.
func TestAFallingCurveIsNotExtended(t *testing.T) {
	c := curve{{Load: 20, Shift: 3000}, {Load: 100, Shift: 0}}.stretched(0, 100)
	assert.Equal(t, Shift(3000), c.at(0))
	c = curve{{Load: 20, Shift: 0}, {Load: 100, Shift: 800}}.stretched(0, 130)
	assert.Equal(t, Shift(1100), c.at(130))
	assert.Equal(t, Shift(-200), c.at(0))
}

// An idle host is slower than a busy one. That is part of the curve, and no reason to flatten it: the lowest bin may be higher.
func TestTheLowestPartOfACurveMayFall(t *testing.T) {
	c := learnCurve(levels(func(load int) Shift {
		if load < binLoad {
			return ShiftOf(1.3)
		}
		return 0
	}), 0)
	assert.InDelta(t, 1.3, c.at(20).Ratio(), 0.03)
	assert.InDelta(t, 1, c.at(300).Ratio(), 0.03)
	assert.InDelta(t, 1, c.at(900).Ratio(), 0.03)
}

// A drive was idle for one block of its first day. That shows nothing about the loads between.
func TestACurveDoesNotReachDownToASingleBlock(t *testing.T) {
	blocks := levels(func(load int) Shift { return 4 * Shift(load) })
	for i := range blocks {
		blocks[i].Load = 400 + blocks[i].Load/3
	}
	lowest := learnCurve(blocks, 0).at(0)
	blocks[0].Load = 30
	assert.InDelta(t, lowest.Ratio(), learnCurve(blocks, 0).at(0).Ratio(), 0.05)
}

// A job takes an hour of the day, and brings loads that the drive has at no other time.
func TestACurveKnowsAShortJob(t *testing.T) {
	blocks := levels(func(load int) Shift { return 0 })
	for i := range blocks {
		blocks[i].Load /= 6
		if i < 2*binBlocks {
			blocks[i].Load, blocks[i].Level[0] = 600+i, ShiftOf(1.3)
		}
	}
	c := learnCurve(blocks, 0)
	assert.InDelta(t, 1.3, c.at(605).Ratio(), 0.01)
	assert.InDelta(t, 1, c.at(100).Ratio(), 0.03)
	assert.InDelta(t, 1, learnCurve(blocks[binBlocks+1:], 0).at(605).Ratio(), 0.01, "too few blocks to say so")
}
