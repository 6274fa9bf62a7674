package safety

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Other namespaces stall while one is formatted. A host that runs on one of them would not survive that.
func TestFormatHoldsUpNobody(t *testing.T) {
	files, links := map[string]string{}, map[string]string{}
	for name, number := range map[string]string{"nvme0/nvme0n1": "259:0", "nvme0/nvme0n2": "259:1", "nvme1/nvme1n1": "259:2"} {
		dir := "sys/devices/pci0000:00/" + name
		controller, namespace := path.Dir(dir), path.Base(dir)
		files[dir+"/dev"], files[dir+"/size"], files[dir+"/wwid"] = number+"\n", "8\n", "eui.00000000000000"+number[len("259:"):]+"1\n"
		files[controller+"/state"], links[controller+"/subsystem"] = "live\n", "/sys/class/nvme"
		links["sys/block/"+namespace], links[dir+"/device"] = "/"+dir, "/"+controller
	}
	fs := sysfstest.Make(t, files, links)
	d, err := device.Find(fs, "259:0")
	require.NoError(t, err)
	require.Equal(t, []string{"nvme0"}, d.Controllers)

	all := func(string) (bool, error) { return true, nil }
	found, err := beside(fs, d, all)
	require.NoError(t, err)
	require.Len(t, found, 1, "not the drive itself, and no other drive")
	assert.Equal(t, KindFormat, found[0].Kind)
	assert.Contains(t, found[0].Text, "/dev/nvme0n2, another namespace of its controller, is in use")

	found, err = beside(fs, d, func(string) (bool, error) { return false, nil })
	require.NoError(t, err)
	assert.Empty(t, found)
}

func TestHeldByOthers(t *testing.T) {
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	used, err := HeldByOthers(loop.Path)
	require.NoError(t, err)
	assert.False(t, used)
	file, _, err := open(loop.Path)
	require.NoError(t, err)
	used, err = HeldByOthers(loop.Path)
	require.NoError(t, err)
	assert.True(t, used)
	require.NoError(t, file.Close())
	used, err = HeldByOthers("/dev/nvme99n99")
	require.NoError(t, err)
	assert.False(t, used, "it has gone")
}
