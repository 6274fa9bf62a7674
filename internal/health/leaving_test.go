package health_test

import (
	"io/fs"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// leaving answers the given number of commands and is then gone.
type leaving struct {
	nvme.Transport
	left int
}

func (l *leaving) Admin(cmd nvme.Command, data []byte) (nvme.Completion, error) {
	if l.left--; l.left < 0 {
		return nvme.Completion{}, fs.ErrNotExist
	}
	return l.Transport.Admin(cmd, data)
}

// A drive may be unplugged at any command of a reading. Read reports that and invents no health,
// and the next reading asks the drive that is there then.
func TestADriveThatLeavesInAReading(t *testing.T) {
	for commands := 0; ; commands++ {
		var opened atomic.Int32
		transports := []nvme.Transport{&leaving{emulated(t), commands}, emulated(t)}
		c := health.NewController(nothing(t), "nvme0", func() (*nvme.Device, error) {
			return nvme.NewDevice(transports[opened.Add(1)-1]), nil
		})
		h, ok, err := c.Read(t.Context(), health.Timeout, nil)
		if err == nil {
			assert.True(t, ok)
			assert.Greater(t, commands, 5, "a reading takes some commands")
			return
		}
		require.ErrorIs(t, err, fs.ErrNotExist, commands)
		again, complete, err := c.Read(t.Context(), health.Timeout, nil)
		require.NoError(t, err, commands)
		assert.True(t, complete)
		assert.EqualValues(t, 2, opened.Load())
		if !ok {
			assert.Zero(t, h, commands)
			continue
		}
		again.Time, again.Features, again.Namespaces = h.Time, h.Features, h.Namespaces // may be read in part, or not at all
		assert.Equal(t, again, h, commands)
	}
}
