package fiorun_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// A file that is truncated to nothing answers like a drive that was unplugged.
func TestTargetThatGoesAway(t *testing.T) {
	for _, depth := range []int{1, 8} {
		file := dataFile(t)
		o := reads(file)
		o.IODepth, o.TimeBased, o.Runtime = new(depth), new(true), new(5*time.Second)
		o.Extra = []fio.Option{{Key: "rate_iops", Value: "2000"}}
		cut := make(chan error, 1)
		_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("reads", o), ReadOnly: true, Progress: func(fio.Status) {
			select {
			case cut <- os.Truncate(file, 0):
			default: // truncated already
			}
		}})
		require.ErrorIs(t, err, fiorun.ErrNoData, "depth %d", depth)
		require.NoError(t, <-cut)
	}
}

func TestBlocksOfUnknownSizesAreNotCounted(t *testing.T) {
	o := reads(dataFile(t))
	o.BlockBytes, o.Extra = new(int64(1<<20)), []fio.Option{{Key: "bsrange", Value: "4k-8k"}, {Key: "number_ios", Value: "50"}}
	run, err := real(t).Run(t.Context(), fiorun.Request{Job: job("ranges", o)})
	require.NoError(t, err)
	read := run.Steps()[0].Read
	assert.Less(t, read.Bytes, read.IOs<<20, "blocks are smaller than bs says")
}
