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
