package drift

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// slowUnderLoad is a host that is slower in the last third of each day, when its devices are busy.
type slowUnderLoad struct{ Alone }

const slowerUnderLoad = Shift(5878) // 1.8 times

func (slowUnderLoad) busy(slot int64) bool { return slot%daySlots >= 2*daySlots/3 }

func (h slowUnderLoad) At(slot int64) Shifts {
	if h.busy(slot) {
		return Shifts{slowerUnderLoad, slowerUnderLoad, slowerUnderLoad, slowerUnderLoad}
	}
	return Shifts{}
}

func TestAHostThatIsSlowUnderLoadIsNoLoadCurve(t *testing.T) {
	var host slowUnderLoad
	blocks := make([]block, finalBlocks)
	for i := range blocks {
		blocks[i] = blockOf(int64(i), host.At(int64(i)))
		if blocks[i].Load = 50 + i%7; host.busy(int64(i)) {
			blocks[i].Load = 500 + i%7
		}
	}
	b := learn(record.Statistics(), blocks, record.Final, false, nil, host)
	assert.Zero(t, b.Of[0].Curve.at(503)-b.Of[0].Curve.at(53))
	assert.Zero(t, b.Of[0].Residuals[len(blocks)-1]-b.Of[0].Residuals[0])
}

// What slows the others while they have little to do does not slow a drive that is as fast as ever then: nothing is taken off it.
func TestAHostThatDoesNotSlowADriveIsNoLoadCurve(t *testing.T) {
	var host slowUnderLoad
	for idle, busy := range map[int]int{500: 50, 50: 500} {
		blocks := make([]block, finalBlocks)
		for i := range blocks {
			blocks[i] = blockOf(int64(i), Shifts{})
			if blocks[i].Load = idle + i%7; host.busy(int64(i)) {
				blocks[i].Load = busy + i%7
			}
		}
		b := learn(record.Statistics(), blocks, record.Final, false, nil, host)
		assert.Zero(t, b.Of[0].Curve.at(53), "slow others at load %d", busy)
		assert.Zero(t, b.Of[0].Curve.at(503), "slow others at load %d", busy)
	}
}

// A block whose level is known only with the host's part taken off keeps its other level unknown when the baseline moves.
func TestTheBaselineMovesUnderABlockThatIsHalfKnown(t *testing.T) {
	tracker := NewTracker(Default())
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	tracker.AddRound(Round{Time: now, Values: Values{1e-4, 1e-4, 1e-4, 1e4}}, record.Conditions{})
	tracker.current().Baseline = &baseline{}
	tracker.recent = []judged{{Shifts: Shifts{50}, Alone: Shifts{missing}}, {Shifts: Shifts{50}, Alone: Shifts{70}}}
	tracker.moveBaseline(0, -100, now)
	assert.Equal(t, Shift(150), tracker.recent[0].Shifts[0])
	assert.False(t, tracker.recent[0].Alone[0].Known())
	assert.Equal(t, Shift(170), tracker.recent[1].Alone[0])
}
