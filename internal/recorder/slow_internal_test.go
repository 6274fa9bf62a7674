package recorder

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestSlowIOsAreBounded(t *testing.T) {
	var s slowIOs
	for i := range 3 * mostSlow / 2 {
		s.take(time.Duration(i), record.SlowIO{Sector: int64(i)})
	}
	all := s.between(-1, time.Hour)
	require.Len(t, all, mostSlow)
	assert.EqualValues(t, mostSlow/2, all[0].Sector, "the oldest are forgotten")
	assert.EqualValues(t, 3*mostSlow/2-1, all[mostSlow-1].Sector)
	assert.Len(t, s.between(mostSlow, mostSlow+10), 10)
}

// A recording says in which second slow I/Os were not reported. The next time around the ring, that is forgotten.
func TestUnreportedSlowIOsAreCountedInTheirSecond(t *testing.T) {
	w := newWorld("a")
	w.Unreported(1) // before the first second
	unreported := func(i int) {
		if i == 3 {
			w.Unreported(40)
			w.Unreported(2)
		}
	}
	w.run(seconds, unreported)
	w.run(10, unreported)
	w.stall("a", 0)
	w.run(61, nil)
	var got []int64
	for _, h := range w.due(t).Host {
		if h.SlowUnreported > 0 {
			got = append(got, h.SlowUnreported)
			assert.Equal(t, start().Add((seconds+3)*time.Second), h.Time)
		}
	}
	assert.Equal(t, []int64{42}, got)
}

func TestSlowIOsAreInTheFile(t *testing.T) {
	rec := recordtest.Recording()
	require.NotEmpty(t, rec.Devices[1].Slow)
	lines, err := Encode(rec)
	require.NoError(t, err)
	read, err := Decode(bytes.NewReader(lines))
	require.NoError(t, err)
	assert.Equal(t, rec.Devices[1].Slow, read.Devices[1].Slow)
	assert.NotEqual(t, rec.WithoutNames(), rec)
}
