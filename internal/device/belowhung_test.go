package device_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// A driver that hangs in sysfs only blocks lookups on its own drive. A FIFO without a writer stands for its attribute.
func TestADriverThatHangsHoldsUpItsOwnDriveOnly(t *testing.T) {
	root, hung, fine := t.TempDir(), t.TempDir(), t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"proc/self/mountinfo":             "1 0 8:0 / " + hung + " rw - ext4 a rw\n2 0 8:16 / " + fine + " rw - xfs b rw\n",
		"sys/devices/virtual/block/a/dev": "8:0\n",
		"sys/devices/virtual/block/b/dev": "8:16\n", "sys/devices/virtual/block/b/size": "8\n",
	}, map[string]string{
		"sys/dev/block/8:0": "../../devices/virtual/block/a", "sys/dev/block/8:16": "../../devices/virtual/block/b",
		"sys/block/b": "../devices/virtual/block/b",
	})
	attribute := filepath.Join(root, "sys/devices/virtual/block/a/partition")
	require.NoError(t, unix.Mkfifo(attribute, 0o600))
	mounted := device.NewFilesystems(sysfs.New(root))
	ask := func(dir string) <-chan device.Below {
		answer := make(chan device.Below, 1)
		go func() {
			below, _ := mounted.BelowFile(dir) // nothing can be read of the hanging one
			answer <- below
		}()
		return answer
	}
	late := ask(hung)
	var driver *os.File
	require.Eventually(t, func() (reads bool) { // a FIFO opens for writing once somebody reads it
		var err error
		driver, err = os.OpenFile(attribute, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err == nil
	}, time.Minute, time.Millisecond)
	select {
	case below := <-ask(fine):
		assert.Equal(t, "b", below.Device.Name)
	case <-time.After(time.Minute):
		t.Error("the other drive waits for the driver that hangs")
	}
	assert.Empty(t, late)
	require.NoError(t, driver.Close())
	<-late
}
