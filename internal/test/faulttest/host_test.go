package faulttest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// addDrive creates the files of an NVMe drive with the given device number.
func addDrive(t *testing.T, root string, n int, number string, sizeBytes int64) {
	t.Helper()
	function := fmt.Sprintf("sys/devices/pci0000:00/0000:00:%02x.0", n+1)
	controller := fmt.Sprintf("%s/nvme/nvme%d", function, n)
	name := fmt.Sprintf("nvme%dn1", n)
	disk := controller + "/" + name
	files := map[string]string{
		function + "/numa_node":                 "0\n",
		function + "/current_link_speed":        "32.0 GT/s PCIe\n",
		function + "/current_link_width":        "4\n",
		controller + "/model":                   "TEST DRIVE\n",
		controller + "/serial":                  fmt.Sprintf("TEST%08d\n", n),
		controller + "/firmware_rev":            "1.0\n",
		controller + "/transport":               "pcie\n",
		controller + "/state":                   "live\n",
		disk + "/dev":                           number + "\n",
		disk + "/size":                          fmt.Sprintf("%d\n", sizeBytes/512),
		disk + "/wwid":                          driveID(n) + "\n",
		disk + "/queue/logical_block_size":      "512\n",
		disk + "/queue/physical_block_size":     "512\n",
		disk + "/queue/scheduler":               "[none] mq-deadline\n",
		disk + "/queue/nr_requests":             "1023\n",
		disk + "/queue/write_cache":             "write through\n",
		"proc/sys/kernel/osrelease":             "6.8.0\n",
		"sys/devices/system/node/node0/cpulist": "0-255\n",
	}
	links := map[string]string{
		disk + "/device":                              "../../" + filepath.Base(controller),
		controller + "/device":                        "../..",
		controller + "/subsystem":                     "/sys/class/nvme",
		"sys/class/nvme/" + filepath.Base(controller): "/" + controller,
		"sys/block/" + name:                           "/" + disk,
		"sys/class/block/" + name:                     "/" + disk,
		"sys/dev/block/" + number:                     "/" + disk,
	}
	sysfstest.Add(t, root, files, links)
}

func driveID(n int) string { return fmt.Sprintf("eui.8ce38ee2%08x", n) }

// hugeInterrupts returns a table of more than a megabyte, as on a server with 256 CPUs. Each queue of nvme0 has one
// interrupt on each CPU, or as many as each says.
func hugeInterrupts(queues, each int) string {
	const cpus = 256
	var b strings.Builder
	for cpu := range cpus {
		fmt.Fprintf(&b, "%11s", fmt.Sprintf("CPU%d", cpu))
	}
	b.WriteByte('\n')
	line := func(number int, action string) {
		fmt.Fprintf(&b, "%4d:%s  PCI-MSIX-0000:01:00.0 %4d-edge      %s\n", number, strings.Repeat(fmt.Sprintf("%11d", each), cpus), number, action)
	}
	for n := range 256 {
		line(100+n, fmt.Sprintf("mlx5_comp%d", n))
	}
	for q := range queues {
		line(1000+q, fmt.Sprintf("nvme0q%d", q))
	}
	return b.String()
}

// The /proc/interrupts of a host has more than a megabyte.
func TestHugeInterrupts(t *testing.T) {
	t.Parallel()
	const size, queues = 64 << 20, 257
	loop, root := testenv.LoopDevice(t, size, testenv.Options{Random: true}), t.TempDir()
	addDrive(t, root, 0, loop.Number, size)
	table := hugeInterrupts(queues, 1)
	require.Greater(t, len(table), 1<<20)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(loop.Path, &st))
	sysfstest.Add(t, root, map[string]string{
		"proc/interrupts":  table,
		"proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/diskstats":   strings.Replace(loop.Number, ":", " ", 1) + " nvme0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	}, nil)
	require.NoError(t, os.Mkdir(filepath.Join(root, "dev"), 0o700))
	require.NoError(t, unix.Mknod(filepath.Join(root, "dev", "nvme0n1"), unix.S_IFBLK|0o600, int(st.Rdev)))

	d := startDaemon(t, t.TempDir(), "host_root: "+root+"\nlock_dir: "+t.TempDir()+"\nhealth: {interval: 1s}\n"+everySecond)
	d.awaitMore(t, driveID(0), "read-4k", "ok", 2)
	d.awaitCollector(t, "interrupts", true)
	counted := func() float64 {
		t.Helper()
		all := d.scrape(t).family(t, "ssdprobe_nvme_interrupts_total")
		require.Len(t, all, 1)
		return all[0].GetCounter().GetValue()
	}
	assert.Zero(t, counted(), "none since the daemon started")
	sysfstest.Add(t, root, map[string]string{"proc/next": hugeInterrupts(queues, 2)}, nil)
	require.NoError(t, os.Rename(filepath.Join(root, "proc/next"), filepath.Join(root, "proc/interrupts")))
	testenv.Eventually(t, "every interrupt is counted once", func() bool { return counted() == queues*256 })
	d.stop(t)
}

// Drives leave and come back while the host is scanned repeatedly. Every scan finds the drive that stays completely, and
// no scan fails because of a drive that left between list and read.
func TestDevicesVanishBetweenListAndRead(t *testing.T) {
	t.Parallel()
	const drives, looks = 8, 400
	root := t.TempDir()
	for n := range drives {
		addDrive(t, root, n, fmt.Sprintf("259:%d", n), 1<<30)
	}
	host := sysfs.New(root)
	all, err := device.Scan(host)
	require.NoError(t, err)
	require.Len(t, all, drives)
	stays := all[0]

	ctx, stop := context.WithCancel(t.Context())
	var moving errgroup.Group
	turns := &turns{next: make(chan struct{})}
	for n := 1; n < drives; n++ {
		moving.Go(func() error { return comeAndGo(ctx, root, n, turns) })
	}
	seen := map[int]int{}
	for range looks {
		turns.begin()
		devices, err := device.Scan(host)
		require.NoError(t, err)
		require.NotEmpty(t, devices)
		require.Equal(t, stays, devices[0])
		conditions, _, err := device.Conditions(host, devices[0])
		require.NoError(t, err)
		require.Equal(t, "1.0", conditions.Firmware)
		seen[len(devices)]++
	}
	stop()
	require.NoError(t, moving.Wait())
	assert.Greater(t, len(seen), 2, "drives came and left: %v", seen)
	again, err := device.Scan(host)
	require.NoError(t, err)
	assert.Equal(t, all, again)
}

// turns notifies waiters that another scan begins.
type turns struct {
	mu   sync.Mutex
	next chan struct{}
}

func (t *turns) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.next)
	t.next = make(chan struct{})
}

// wait returns when the given number of scans have begun, or ctx has ended.
func (t *turns) wait(ctx context.Context, looks int) {
	for range looks {
		t.mu.Lock()
		next := t.next
		t.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// comeAndGo removes the n-th drive of a host and adds it again until ctx ends. It removes the drive in the middle of a
// scan, and does not add it in the same one. As in the kernel, the links go first.
func comeAndGo(ctx context.Context, root string, n int, looks *turns) error {
	link := filepath.Join(root, "sys/block", fmt.Sprintf("nvme%dn1", n))
	hidden := filepath.Join(root, fmt.Sprintf("nvme%dn1", n)) // not in the list
	function := filepath.Join(root, fmt.Sprintf("sys/devices/pci0000:00/0000:00:%02x.0", n+1))
	for ctx.Err() == nil {
		for _, move := range [][2]string{{link, hidden}, {function, function + ".away"}, {function + ".away", function}, {hidden, link}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				return err
			}
			if move[1] == function+".away" || move[1] == link {
				looks.wait(ctx, 2)
			}
		}
	}
	return nil
}
