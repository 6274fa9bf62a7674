package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

func TestExplains(t *testing.T) {
	served := func(utilisation, reads, writes, size float64) drift.Measured {
		return drift.Measured{Utilisation: utilisation, Work: drift.Work{
			Known: true, Reads: reads, Writes: writes, ReadBytes: reads * size, WrittenBytes: writes * size,
		}}
	}
	const kib = 1024
	peer := served(0.3, 1000, 500, 4*kib)
	for name, c := range map[string]struct {
		mine      drift.Measured
		explained float64
		like      bool
	}{
		"the same":                {peer, 1, true},
		"half as much":            {served(0.6, 500, 250, 4*kib), 1, true},
		"a tenth":                 {served(0.9, 100, 50, 4*kib), 1, true},
		"more":                    {served(0.4, 1500, 750, 4*kib), 1.195, true}, // 0.7^-0.5
		"too much more":           {served(0.5, 2100, 500, 4*kib), 0, false},
		"too many writes":         {served(0.3, 500, 1100, 4*kib), 0, false},
		"larger":                  {served(0.3, 750, 375, 6*kib), 1.5 * 1.046, true}, // 9/8 of the bytes
		"too large":               {served(0.3, 100, 50, 10*kib), 0, false},
		"too small":               {served(0.3, 1000, 500, 1*kib), 0, false},
		"hardly any of one kind":  {served(0.3, 1000, 20, 4*kib), 1, true},
		"nobody knows what it is": {drift.Measured{}, 1, true},
		"nobody knows the sizes":  {drift.Measured{Work: drift.Work{Known: true, Reads: 900, Writes: 400}}, 1, true},
		"nobody knows the rates":  {drift.Measured{Work: drift.Work{Known: true, ReadBytes: 1e6, WrittenBytes: 1e6}}, 1, true},
	} {
		larger, more, like := moreWork(c.mine.Work, peer.Work, 0)
		assert.Equal(t, c.like, like, name)
		if like {
			assert.InDelta(t, c.explained, explains(larger, more, peer.Utilisation).Ratio(), 0.01, name)
		}
	}
	few := served(0.1, 100, 2, 4*kib)
	_, _, like := moreWork(served(0.1, 150, 8, 4*kib).Work, few.Work, 0)
	assert.False(t, like, "more than a twentieth of it is writes, four times as many")
	_, _, like = moreWork(served(0.1, 150, 7, 4*kib).Work, few.Work, 0)
	assert.True(t, like, "a few writes are no other work")
}
