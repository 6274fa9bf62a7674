package nvme_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// TestFeaturesOfQEMU gets the raw values behind testdata/captured/feature-….txt.
func TestFeaturesOfQEMU(t *testing.T) {
	d, script := drive(t, nil)
	script.On(getFeature(nvme.FeaturePowerManagement, 0)).Result(0)
	script.On(getFeature(nvme.FeatureTemperatureThreshold, 0)).Result(0x157)
	script.On(getFeature(nvme.FeatureVolatileWriteCache, 0)).Result(1)
	script.On(getFeature(nvme.FeatureNumberOfQueues, 0)).Result(0x003F003F)
	script.On(getFeature(nvme.FeatureInterruptCoalescing, 0)).Result(0)

	power, err := d.PowerManagement()
	require.NoError(t, err)
	assert.Equal(t, nvme.PowerManagement{}, power)
	over, err := d.OverTemperature(nvme.CompositeSensor)
	require.NoError(t, err)
	assert.Equal(t, new(nvme.Celsius(70)), over)
	cache, err := d.WriteCache()
	require.NoError(t, err)
	assert.True(t, cache)
	queues, err := d.Queues()
	require.NoError(t, err)
	assert.Equal(t, nvme.Queues{Submission: 64, Completion: 64}, queues)
	coalescing, err := d.InterruptCoalescing()
	require.NoError(t, err)
	assert.Equal(t, nvme.InterruptCoalescing{Threshold: 1}, coalescing)
}

func TestFeatureBits(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetAPSTA: {1}, offsetHCTMA: {1}})
	script.On(getFeature(nvme.FeaturePowerManagement, 0)).Result(0xFFFFFF7F)
	script.On(getFeature(nvme.FeatureVolatileWriteCache, 0)).Result(0xFFFFFFFE)
	script.On(getFeature(nvme.FeatureNumberOfQueues, 0)).Result(0xFFFE_FFFD)
	script.On(getFeature(nvme.FeatureInterruptCoalescing, 0)).Result(0xFFFF_0A07)
	script.On(getFeature(nvme.FeatureThermalManagement, 0)).Result(0x01570161)
	script.On(getFeature(nvme.FeatureAutonomousPower, 0)).ReturnResult([]byte{0x18, 0x64}, 1)

	power, err := d.PowerManagement()
	require.NoError(t, err)
	assert.Equal(t, nvme.PowerManagement{State: 31, WorkloadHint: 3}, power)
	cache, err := d.WriteCache()
	require.NoError(t, err)
	assert.False(t, cache)
	queues, err := d.Queues()
	require.NoError(t, err)
	assert.Equal(t, nvme.Queues{Submission: 0xFFFE, Completion: 0xFFFF}, queues)
	coalescing, err := d.InterruptCoalescing()
	require.NoError(t, err)
	assert.Equal(t, nvme.InterruptCoalescing{Time: time.Millisecond, Threshold: 8}, coalescing)
	thermal, err := d.ThermalManagement()
	require.NoError(t, err)
	assert.Equal(t, nvme.ThermalManagement{Light: new(nvme.Celsius(70)), Heavy: new(nvme.Celsius(80))}, thermal)
	autonomous, err := d.AutonomousPower()
	require.NoError(t, err)
	want := nvme.AutonomousPower{Enabled: true}
	want.Transitions[0] = &nvme.IdleTransition{After: 100 * time.Millisecond, State: 3}
	assert.Equal(t, want, autonomous)
}

func TestTemperatureThresholds(t *testing.T) {
	smartPage := make([]byte, 512)
	copy(smartPage[202:], []byte{0x2C, 0x01}) // there is a sensor 2, and no other
	d, script := drive(t, nil)
	script.On(smartLog).Return(smartPage)
	script.On(getFeature(nvme.FeatureTemperatureThreshold, 0x00_0000)).Result(0xFFFF)
	script.On(getFeature(nvme.FeatureTemperatureThreshold, 0x10_0000)).Result(0)
	script.On(getFeature(nvme.FeatureTemperatureThreshold, 0x02_0000)).Result(0x161)
	script.On(getFeature(nvme.FeatureTemperatureThreshold, 0x12_0000)).Result(0x107)
	for _, c := range []struct {
		name   string
		get    func(uint8) (*nvme.Celsius, error)
		sensor uint8
		want   *nvme.Celsius
	}{
		{"over, off", d.OverTemperature, nvme.CompositeSensor, nil},
		{"under, off", d.UnderTemperature, nvme.CompositeSensor, nil},
		{"over", d.OverTemperature, 2, new(nvme.Celsius(80))},
		{"under", d.UnderTemperature, 2, new(nvme.Celsius(-10))},
	} {
		got, err := c.get(c.sensor)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
	for _, sensor := range []uint8{1, 3, 8, 9, 255} {
		_, err := d.OverTemperature(sensor)
		require.ErrorIs(t, err, errors.ErrUnsupported, "sensor %d", sensor)
	}
}

// The capabilities of a feature in dword 0.
const (
	saveable   = 1
	changeable = 4
)

func TestFeatureWriter(t *testing.T) {
	off := func(w *nvme.FeatureWriter, keep nvme.Lifetime) error { return w.SetWriteCache(false, keep) }
	on := func(w *nvme.FeatureWriter, keep nvme.Lifetime) error { return w.SetWriteCache(true, keep) }
	coalesce := func(w *nvme.FeatureWriter, keep nvme.Lifetime) error {
		return w.SetInterruptCoalescing(nvme.InterruptCoalescing{Time: 25_500 * time.Microsecond, Threshold: 256}, keep)
	}
	set := func(dword10, dword11 uint32) nvme.Command {
		return nvme.Command{Opcode: 0x09, Dword10: dword10, Dword11: dword11}
	}
	for _, c := range []struct {
		name    string
		feature nvme.Feature
		can     uint64
		change  func(*nvme.FeatureWriter, nvme.Lifetime) error
		keep    nvme.Lifetime
		want    nvme.Command
	}{
		{"cache off", nvme.FeatureVolatileWriteCache, changeable, off, nvme.UntilReset, set(0x06, 0)},
		{"cache on", nvme.FeatureVolatileWriteCache, changeable, on, nvme.UntilReset, set(0x06, 1)},
		{"saveable, and not asked to", nvme.FeatureVolatileWriteCache, changeable | saveable, on, nvme.UntilReset, set(0x06, 1)},
		{"cache on for ever", nvme.FeatureVolatileWriteCache, changeable | saveable, on, nvme.Saved, set(0x8000_0006, 1)},
		{"coalescing", nvme.FeatureInterruptCoalescing, changeable, coalesce, nvme.UntilReset, set(0x08, 0xFFFF)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, nil)
			script.On(nvme.GetFeatureCommand(c.feature, nvme.SelectCapabilities, 0)).Result(c.can)
			script.On(c.want).Result(0)
			require.NoError(t, c.change(nvme.NewFeatureWriter(d), c.keep))
			sent := script.Sent()
			assert.Equal(t, c.want, sent[len(sent)-1])
		})
	}
}

func TestFeatureWriterDoesNotSendWhatWouldBeRefused(t *testing.T) {
	capabilities := nvme.GetFeatureCommand(nvme.FeatureVolatileWriteCache, nvme.SelectCapabilities, 0)
	for name, program := range map[string]func(*nvmetest.Script){
		"not changeable": func(s *nvmetest.Script) { s.On(capabilities).Result(saveable) },
		"not saveable":   func(s *nvmetest.Script) { s.On(capabilities).Result(changeable) },
		"not said":       func(s *nvmetest.Script) { s.On(capabilities).Refuse(0x4002) },
	} {
		t.Run(name, func(t *testing.T) {
			d, script := drive(t, nil)
			program(script)
			require.ErrorIs(t, nvme.NewFeatureWriter(d).SetWriteCache(true, nvme.Saved), errors.ErrUnsupported)
			for _, cmd := range script.Sent() {
				assert.NotEqual(t, nvme.OpcodeSetFeatures, cmd.Opcode)
			}
		})
	}
	d, script := drive(t, nil)
	script.On(capabilities).Fail(nvme.ErrCancelled)
	require.ErrorIs(t, nvme.NewFeatureWriter(d).SetWriteCache(true, nvme.UntilReset), nvme.ErrCancelled)
}

func TestFeatureWriterWithoutSaveAndSelect(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetONCS: {0, 0}})
	script.On(nvme.SetFeatureCommand(nvme.FeatureVolatileWriteCache, 0, nvme.UntilReset)).Result(0)
	require.NoError(t, nvme.NewFeatureWriter(d).SetWriteCache(false, nvme.UntilReset))
}

func TestInterruptCoalescingOutOfRange(t *testing.T) {
	for _, c := range []nvme.InterruptCoalescing{
		{Time: 25_600 * time.Microsecond, Threshold: 1},
		{Time: 150 * time.Microsecond, Threshold: 1},
		{Time: -100 * time.Microsecond, Threshold: 1},
		{Threshold: 0},
		{Threshold: 257},
	} {
		d, script := drive(t, nil)
		err := nvme.NewFeatureWriter(d).SetInterruptCoalescing(c, nvme.UntilReset)
		require.ErrorContains(t, err, "set interrupt coalescing: ")
		assert.Empty(t, script.Sent())
	}
}
