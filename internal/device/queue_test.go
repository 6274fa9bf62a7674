package device_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestQueueOf(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	write("sys/block/nvme0n1/mq/0/cpu_list", "0\n")
	write("sys/block/dm-0/size", "8\n")
	fs := sysfs.New(root)
	drive, volume := record.Device{Name: "nvme0n1", Number: "259:1"}, record.Device{Name: "dm-0", Number: "253:0"}

	of := func(d record.Device) device.Queue {
		q, err := device.QueueOf(fs, d)
		require.NoError(t, err)
		return q
	}
	assert.Equal(t, device.Queue{Known: true, Requests: true}, of(drive), "a kernel without io.cost")
	assert.Equal(t, device.Queue{Known: true}, of(volume))
	write("sys/fs/cgroup/io.cost.qos", "259:11 enable=1 ctrl=auto\n259:1 enable=0 ctrl=user rpct=95.00\n")
	assert.False(t, of(drive).CostControlled)
	write("sys/fs/cgroup/io.cost.qos", "259:11 enable=0 ctrl=auto\n259:1 enable=1 ctrl=user rpct=95.00\n")
	assert.True(t, of(drive).CostControlled)

	_, err := device.QueueOf(fs, record.Device{Name: "sda"})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = device.QueueOf(fs, record.Device{})
	require.ErrorContains(t, err, "no name", "not that of all devices")
}

func TestQueueOfThisMachine(t *testing.T) {
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	q, err := device.QueueOf(sysfs.FS{}, d)
	require.NoError(t, err)
	assert.True(t, q.Known && q.Requests, "a loop device makes requests")
}
