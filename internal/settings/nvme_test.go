package settings_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// controller answers Identify and stores features; it refuses everything else.
type controller struct {
	features map[nvme.Feature]uint32
	cache    bool // has a volatile write cache
	stuck    bool // accepts values but does not store them
}

func (c *controller) Admin(cmd nvme.Command, data []byte) (nvme.Completion, error) {
	feature := nvme.Feature(cmd.Dword10 & 0xFF)
	switch cmd.Opcode {
	case nvme.OpcodeIdentify:
		clear(data)
		data[111] = byte(nvme.ControllerTypeIO)
		binary.LittleEndian.PutUint32(data[80:], 0x00020000)
		if c.cache {
			data[525] = 1
		}
		return nvme.Completion{}, nil
	case nvme.OpcodeGetFeatures:
		return nvme.Completion{Result: uint64(c.features[feature])}, nil
	case nvme.OpcodeSetFeatures:
		if !c.stuck {
			c.features[feature] = cmd.Dword11
		}
		return nvme.Completion{}, nil
	default:
		return nvme.Completion{}, errors.New("an unexpected command")
	}
}

func TestFeaturesOfNVMe(t *testing.T) {
	o := options(t)
	o.FS = devicetest.Server{Sockets: 1, Cores: 2, Threads: 1, Drives: 1}.Make(t)
	c := &controller{features: map[nvme.Feature]uint32{nvme.FeatureVolatileWriteCache: 1, nvme.FeatureInterruptCoalescing: 0x0207}, cache: true}
	o.OpenNVMe = func(path string) (*nvme.Device, error) {
		assert.Equal(t, "/dev/nvme0", path)
		return nvme.NewDevice(c), nil
	}
	d, err := device.Find(o.FS, "nvme0n1")
	require.NoError(t, err)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	before, err := session.Read(settings.InterruptCoalescing)
	require.NoError(t, err)
	assert.Equal(t, "8/200µs", before)
	require.NoError(t, session.Set(t.Context(), settings.InterruptCoalescing, "off"))
	require.NoError(t, session.Set(t.Context(), settings.InterruptCoalescing, "11/200µs"))
	assert.Equal(t, uint32(522), c.features[nvme.FeatureInterruptCoalescing], "a published tuning guide's value")
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	assert.Zero(t, c.features[nvme.FeatureVolatileWriteCache])
	require.NoError(t, session.Restore())
	assert.Equal(t, map[nvme.Feature]uint32{nvme.FeatureVolatileWriteCache: 1, nvme.FeatureInterruptCoalescing: 0x0207}, c.features)

	c.cache = false
	session, err = settings.Take(o, d)
	require.NoError(t, err)
	require.ErrorIs(t, session.Set(t.Context(), settings.WriteCache, "off"), settings.ErrNone)
	c.stuck = true
	require.ErrorContains(t, session.Set(t.Context(), settings.InterruptCoalescing, "off"), "it is 8/200µs still")
	require.NoError(t, session.Restore())
}

// The settings are those of the controller. A second session would take for original what the first has changed.
func TestNamespacesOfOneController(t *testing.T) {
	o := options(t)
	o.FS = devicetest.Server{Sockets: 1, Cores: 2, Threads: 1, Drives: 1}.Make(t)
	c := &controller{features: map[nvme.Feature]uint32{nvme.FeatureInterruptCoalescing: 0x0207}}
	o.OpenNVMe = func(string) (*nvme.Device, error) { return nvme.NewDevice(c), nil }
	one, err := device.Find(o.FS, "nvme0n1")
	require.NoError(t, err)
	other := one
	other.ID, other.Name = one.ID+"-2", "nvme0n2"
	session, err := settings.Take(o, one)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.InterruptCoalescing, "off"))
	_, err = settings.Take(o, other)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, session.Restore())
	session, err = settings.Take(o, other)
	require.NoError(t, err)
	require.NoError(t, session.Restore())
}
