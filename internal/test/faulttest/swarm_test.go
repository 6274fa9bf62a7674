package faulttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	// swarmFirst is the number of the first device of a swarm, far above those that losetup chooses.
	swarmFirst = 5000
	// swarmSize is the number of devices at a time, generations how often they come and go.
	swarmSize, generations = 200, 5
)

// A thousand loop devices come and go, as on a node with many volumes; ten of each two hundred are
// watched. The device that stays is measured all the time, and no resources of the others are kept.
func TestSwarmOfDevices(t *testing.T) {
	t.Parallel()
	stays := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	backing := file(t, "backing", "")
	require.NoError(t, os.Truncate(backing, 1<<20))
	d := startDaemonWith(t, eager(), t.TempDir(), "lock_dir: "+t.TempDir()+
		"\ndevices: {include: [{name: "+filepath.Base(stays.Path)+"}, {name: loop500*}]}\n"+everySecond)
	id := d.idOf(t, filepath.Base(stays.Path))
	var before use
	for generation := range generations {
		for i := range swarmSize {
			attach(t, swarmFirst+i, backing)
		}
		eventually(t, "the swarm is seen", func() bool { return d.swarm(t) == swarmSize })
		d.awaitMore(t, id, "read-4k", "ok", 1)
		for i := range swarmSize {
			detach(t, swarmFirst+i)
		}
		eventually(t, "the swarm is gone", func() bool { return d.swarm(t) == 0 })
		if generation == 2 {
			before = d.use(t)
		}
	}
	d.awaitMore(t, id, "read-4k", "ok", 2)
	d.assertNoGrowth(t, before)
	d.stop(t)
}

// swarm returns how many devices of the swarm the daemon knows, watched or not.
func (d *daemon) swarm(t *testing.T) int {
	t.Helper()
	snapshot, n := d.page(t, "api/v1/snapshot"), 0
	for i := range swarmSize {
		if strings.Contains(snapshot, fmt.Sprintf(`"loop%d"`, swarmFirst+i)) {
			n++
		}
	}
	return n
}

// attach creates the loop device with the given number.
func attach(t *testing.T, number int, backing string) {
	t.Helper()
	control(t, unix.LOOP_CTL_ADD, number)
	data, err := os.Open(backing)
	require.NoError(t, err)
	defer data.Close()
	device := openLoop(t, number)
	defer device.Close()
	require.NoError(t, unix.IoctlSetInt(int(device.Fd()), unix.LOOP_SET_FD, int(data.Fd())))
}

// detach removes the device and its node once nobody has it open.
func detach(t *testing.T, number int) {
	t.Helper()
	device := openLoop(t, number)
	require.NoError(t, unix.IoctlSetInt(int(device.Fd()), unix.LOOP_CLR_FD, 0))
	require.NoError(t, device.Close())
	eventually(t, "it is free", func() bool { return tryControl(t, unix.LOOP_CTL_REMOVE, number) == nil })
}

func openLoop(t *testing.T, number int) *os.File {
	t.Helper()
	device, err := os.Open(fmt.Sprintf("/dev/loop%d", number))
	require.NoError(t, err)
	return device
}

func control(t *testing.T, request uint, number int) {
	t.Helper()
	require.NoError(t, tryControl(t, request, number))
}

func tryControl(t *testing.T, request uint, number int) error {
	t.Helper()
	all, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	require.NoError(t, err)
	defer all.Close()
	return unix.IoctlSetInt(int(all.Fd()), request, number)
}
