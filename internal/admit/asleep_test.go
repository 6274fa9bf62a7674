package admit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestAsleep(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"sys/dev/block/259:0/device/device/power/runtime_status": "suspended\n",
		"sys/dev/block/259:0/dev":                                "259:0\n",
		"sys/dev/block/8:0/device/power/runtime_status":          "active\n",
		"sys/dev/block/8:16/device/power/runtime_status":         "unsupported\n",
		"sys/dev/block/8:32/device/power/runtime_status":         "suspending\n",
		"sys/dev/block/9:0/slaves/nvme0n1/dev":                   "259:0\n",
		"sys/dev/block/7:0/dev":                                  "7:0\n",
	}, nil)
	for number, want := range map[string]bool{"259:0": true, "8:0": false, "8:16": false, "8:32": true, "9:0": true, "7:0": false} {
		disk, err := admit.NewDisk(sysfs.New(root), number)
		require.NoError(t, err)
		asleep, err := disk.Asleep()
		require.NoError(t, err)
		assert.Equal(t, want, asleep, number)
	}
}
