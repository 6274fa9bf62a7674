package fio_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestMostDepth(t *testing.T) {
	full := []fio.DepthLevel{{Least: 1, Share: 0.001}, {Least: 32, Share: 0.999}}
	assert.InDelta(t, 31.97, fio.MostDepth(full, 32), 0.01)
	assert.InDelta(t, 62.94, fio.MostDepth(full, 1000), 0.01, "the level of 32 ends at 63")
	assert.InEpsilon(t, 1000, fio.MostDepth([]fio.DepthLevel{{Least: 64, Share: 1}}, 1000), 1e-9, "that of 64 has no end")
	assert.InEpsilon(t, 1, fio.MostDepth([]fio.DepthLevel{{Least: 1, Share: 1.98}}, 32), 1e-9, "with syncs")
	assert.InEpsilon(t, 32, fio.MostDepth(nil, 32), 1e-9, "nothing speaks against it")
}
