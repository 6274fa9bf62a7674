package drift

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A CUSUM at zero is spared the score of a block on the other side of the middle.
func TestOnlyABlockOnItsSideOfTheMiddleIsEvidence(t *testing.T) {
	for _, residuals := range [][]Shift{{0}, {-3, 4}, {-5, 0, 2}, {-5, -1, 2, 9}, {1, 1, 1, 7}, {-7, 1, 1, 1, 1}} {
		n := noise{Residuals: residuals}
		middle := n.middle()
		for s := Shift(-12); s <= 12; s++ {
			if s < middle {
				assert.LessOrEqual(t, n.slower(s, 0), 0.0, "%v among %v", s, residuals)
			}
			if s > middle {
				assert.LessOrEqual(t, n.faster(s, 0), 0.0, "%v among %v", s, residuals)
			}
		}
	}
}
