package cli_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A run on a file is also a run on the device below its filesystem, which a user knows who sees that the device is
// busy. Another run that the first one keeps from that device says who has it.
func TestRunIsStoppedByTheDeviceBelow(t *testing.T) {
	t.Parallel()
	disk := testenv.LoopDevice(t, 1<<30, testenv.Options{})
	part := testenv.Loop{Path: disk.Path + "p1"}
	disk.Partition(t, 1, 2048, 1000000)
	whole := testenv.LoopDevice(t, 256<<20, testenv.Options{})
	onPart, onWhole := testenv.Ext4On(t, part), testenv.Ext4On(t, whole)
	for name, c := range map[string]struct{ dir, device, other string }{
		"the disk":      {onWhole, whole.Path, disk.Path},
		"its disk":      {onPart, disk.Path, whole.Path},
		"the partition": {onPart, part.Path, onWhole},
	} {
		t.Run(name, func(t *testing.T) {
			config := calm(t)
			p := start(t, long(t, config, c.dir)...)
			eventually(t, "fio works on the file", func() bool { return len(fioOn(t, c.dir)) > 0 })
			holder := fmt.Sprintf("the run on %s (process %d)", c.dir, p.Cmd.Process.Pid)

			elsewhere := ssdprobe(t, "run", "--stop", "--config", config, "-t", c.other)
			assert.Equal(t, 1, elsewhere.code)
			assert.Contains(t, elsewhere.stderr, "no run is in progress on "+c.other+", only "+holder)

			second := ssdprobe(t, "run", "--config", config, "--state-dir", t.TempDir(), "-t", c.dir, "--size", "16MiB")
			assert.Equal(t, 4, second.code)
			assert.Contains(t, second.stderr, fmt.Sprintf(
				"refused: %s: another ssdprobe uses the device: %s; wait for it to end, or end it with ssdprobe run --stop --target %s", c.dir, holder, c.dir))

			got := ssdprobe(t, "run", "--stop", "--config", config, "-t", c.device, "-t", c.dir)
			require.Zero(t, got.code, got.stderr)
			assert.Equal(t, "stopped "+holder+"\n", got.stdout)
			assert.Equal(t, 143, p.Wait(t))
			assert.NotContains(t, testenv.Names(t, c.dir), "ssdprobe.dat")
		})
	}
}
