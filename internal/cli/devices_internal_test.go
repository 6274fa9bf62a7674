package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// A device that leaves between listing and reading is left out. That is no error for the other devices.
func TestDevicesThatLeaveAreLeftOut(t *testing.T) {
	host := sysfstest.Make(t, map[string]string{"sys/block/vda/size": "8\n"}, nil)
	rows, err := deviceRows(t.Context(), config.Default(), device.NewScanner(host), []device.Pick{
		{Device: record.Device{Name: "loop5044", SizeBytes: 4096}, Reason: "a loop device"},
		{Device: record.Device{Name: "vda", SizeBytes: 4096}, Reason: "excluded"},
	}, nil)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.Equal(t, "vda", rows[0].Device.Name)

	gone, here := finding.Finding{Code: finding.CannotProbe, Device: "loop5044"}, finding.Finding{Code: finding.Stale, Device: "vda"}
	c := config.Default()
	c.FallbackFile = false
	assert.Equal(t, []finding.Finding{gone}, ofNode(c, []finding.Finding{gone, here}, rows, false), "what is wrong with it is still told")

	c.FallbackFile = true
	assert.Len(t, ofNode(c, nil, nil, false), 1, "a daemon would use the fallback file")
	assert.Empty(t, ofNode(c, nil, nil, true), "the one that runs says itself what it uses")
}
