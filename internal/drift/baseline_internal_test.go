package drift

import (
	"testing"

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
	b := learn(blocks, record.Final, false, nil, host)
	assert.Zero(t, b.Of[0].Curve.at(503)-b.Of[0].Curve.at(53))
	assert.Zero(t, b.Of[0].Residuals[len(blocks)-1]-b.Of[0].Residuals[0])
}
