package traffic

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// told collects what a Sampler reports.
type told struct {
	samples chan record.Traffic
	stalls  chan record.Stall
}

// failure returns why the counters could not be read in the last second.
func failure(s *Sampler) error {
	_, err := s.Last()
	return err
}

// samplerOf returns a Sampler of devices of this machine, and what it reports.
func samplerOf(devices ...Device) (*Sampler, told) {
	t := told{make(chan record.Traffic, 100), make(chan record.Stall, 100)}
	return New(Options{
		FS: sysfs.New("/"), Devices: func() []Device { return devices },
		Sample: func(_ Device, s record.Traffic) { t.samples <- s }, Stall: func(_ Device, s record.Stall) { t.stalls <- s },
	}), t
}

// dd runs dd with the given arguments.
func dd(t *testing.T, arguments ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "dd", append(arguments, "status=none")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// counted reads the line of a device in /proc/diskstats.
func counted(t *testing.T, number string) counters.Disk {
	t.Helper()
	disks, err := counters.ReadDisks(sysfs.New("/"))
	require.NoError(t, err)
	disk, ok := disks.ByNumber(number)
	require.True(t, ok)
	return disk
}

func TestOthersOnARealDeviceAreDiskstatsWithoutOurRounds(t *testing.T) {
	device := testenv.LoopDevice(t, 64<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	s, _ := samplerOf(Device{ID: "a", Number: device.Number})
	s.sample(t.Context(), false)
	before, begun := counted(t, device.Number), time.Now()

	dd(t, "if=/dev/zero", "of="+device.Path, "bs=64k", "count=100", "oflag=direct", "conv=notrunc,fsync")
	ourBefore := counted(t, device.Number)
	_, end := s.Begin(device.Number)
	dd(t, "if="+device.Path, "of=/dev/null", "bs=4k", "count=256", "iflag=direct") // stands in for a round
	end()
	ours, ok := counted(t, device.Number).Since(ourBefore)
	require.True(t, ok)
	require.GreaterOrEqual(t, ours.ReadIOs, uint64(256))
	s.sample(t.Context(), false)
	dd(t, "if="+device.Path, "of=/dev/null", "bs=128k", "count=50", "iflag=direct")
	s.sample(t.Context(), false)

	all, ok := counted(t, device.Number).Since(before)
	require.True(t, ok)
	d := s.devices[device.Number]
	want := totalsOf(0, all, counters.ExactTimes).since(totalsOf(0, ours, counters.ExactTimes))
	got := d.account.others
	assert.Equal(t, want.served, got.served)
	assert.Equal(t, want.readBytes, got.readBytes)
	assert.Equal(t, want.writtenBytes, got.writtenBytes)
	assert.Positive(t, got.served[flush].ios)
	assert.Less(t, got.span, time.Since(begun), "the time of our round is left out")
	assert.Equal(t, counters.ExactTimes, d.account.last.timing, "a loop device has a queue of requests")
}

// fio is the reference: the numbers of reads must match, and the mean latency must not exceed fio's.
func TestLatencyOfOthersIsThatOfFio(t *testing.T) {
	fio := testenv.Installed(t, "fio")
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	s, _ := samplerOf(Device{ID: "a", Number: device.Number})
	s.sample(t.Context(), false)
	out, err := exec.CommandContext(t.Context(), fio, "--name=others", "--filename="+device.Path, "--readonly", "--direct=1", "--ioengine=psync",
		"--rw=randread", "--bs=4k", "--number_ios=2000", "--output-format=json").Output()
	require.NoError(t, err)
	s.sample(t.Context(), false)
	var report struct {
		Jobs []struct {
			Read struct {
				TotalIOs uint64 `json:"total_ios"`
				Latency  struct {
					Mean float64 `json:"mean"`
				} `json:"clat_ns"`
			} `json:"read"`
		} `json:"jobs"`
	}
	require.NoError(t, json.Unmarshal(out, &report))
	fios, others := report.Jobs[0].Read, s.devices[device.Number].account.others.served[read]
	assert.Equal(t, fios.TotalIOs, others.ios)
	rounded := time.Millisecond / time.Duration(others.ios) // the kernel reports the sum in whole milliseconds
	assert.Positive(t, others.mean())
	assert.LessOrEqual(t, others.mean(), time.Duration(fios.Latency.Mean)+rounded, "fio's includes that it wakes up")
	t.Logf("the kernel: %v, fio: %v, %d reads", others.mean(), time.Duration(fios.Latency.Mean), others.ios)
}

func TestARealDeviceWhoseStatisticsAreOff(t *testing.T) {
	device := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	s, _ := samplerOf(Device{ID: "a", Number: device.Number})
	s.sample(t.Context(), false)
	assert.False(t, s.devices[device.Number].off(t.Context(), sysfs.New("/")))
	assert.NotEqual(t, byBlind, s.close(t.Context(), s.devices[device.Number]).Unusable, "nothing is done, which is counted")
	attribute := filepath.Join("/sys/dev/block", device.Number, "queue/iostats")
	require.NoError(t, os.WriteFile(attribute, []byte("0"), 0))
	t.Cleanup(func() { assert.NoError(t, os.WriteFile(attribute, []byte("1"), 0)) })
	dd(t, "if="+device.Path, "of=/dev/null", "bs=4k", "count=10", "iflag=direct")
	s.sample(t.Context(), false)
	assert.Equal(t, byBlind, s.close(t.Context(), s.devices[device.Number]).Unusable)
}

func TestADeviceThatComesAndGoes(t *testing.T) {
	device := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	devices := []Device{{ID: "a", Number: device.Number}, {ID: "no such", Number: "7:987654"}}
	s, told := samplerOf()
	s.options.Devices = func() []Device { return devices }
	s.sample(t.Context(), false)
	require.NoError(t, failure(s))
	assert.NotNil(t, s.Status(device.Number))
	assert.Nil(t, s.Status("7:987654").Last)
	work, end := s.Begin("7:987654")
	end()
	assert.Nil(t, work)
	s.close(t.Context(), s.devices[device.Number])
	assert.NotNil(t, s.Status(device.Number).Last)

	kept := s.devices[device.Number]
	devices = append(devices, Device{ID: "the file on it", Number: device.Number, Run: true})
	s.sample(t.Context(), false)
	assert.Same(t, kept, s.devices[device.Number], "one account for a device, however many targets are on it")
	assert.True(t, kept.Run)
	devices = []Device{{ID: "b", Number: device.Number}}
	s.sample(t.Context(), false)
	assert.NotSame(t, kept, s.devices[device.Number], "another device has the number")
	devices = nil
	s.sample(t.Context(), false)
	assert.Nil(t, s.Status(device.Number))
	work, end = s.Begin(device.Number)
	end()
	assert.Nil(t, work)
	assert.Empty(t, told.stalls)
}

// The kernel sees a drive that takes I/O and completes none: a loop device on a file of a frozen filesystem. It
// hangs for three seconds between two rounds, and the stall must be reported within seconds.
func TestARealStall(t *testing.T) {
	dir := testenv.Ext4(t, 64<<20)
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: dir})
	s, told := samplerOf(Device{ID: "a", Number: device.Number})
	run(t, s)

	frozen, err := os.Open(dir)
	require.NoError(t, err)
	defer frozen.Close()
	const freeze, thaw = 0xC0045877, 0xC0045878 // FIFREEZE, FITHAW of linux/fs.h
	require.NoError(t, unix.IoctlSetInt(int(frozen.Fd()), freeze, 0))
	thawed := false
	end := func() {
		if !thawed {
			thawed = true
			assert.NoError(t, unix.IoctlSetInt(int(frozen.Fd()), thaw, 0))
		}
	}
	defer end()
	hang := exec.CommandContext(context.WithoutCancel(t.Context()), "dd", "if=/dev/zero", "of="+device.Path, "bs=4k", "count=1", "seek=100", "oflag=direct", "conv=notrunc", "status=none")
	require.NoError(t, hang.Start())
	testenv.Eventually(t, "three seconds have passed in which nothing completed", func() bool {
		status := s.Status(device.Number)
		return status != nil && len(status.Stalls) > 0 && status.Stalls[len(status.Stalls)-1].Length >= 3*time.Second-beat
	})
	end()
	require.NoError(t, hang.Wait())
	for stall := range told.stalls {
		assert.Equal(t, record.StallByDevice, stall.Cause)
		if stall.Ongoing || stall.Length < 3*time.Second-beat {
			continue // only on a very slow machine: a beat that comes late ends a stall, and another one begins
		}
		assert.GreaterOrEqual(t, stall.InFlight, int64(1), "the write, and what others of this machine may read of the device")
		break
	}
	totals := s.Status(device.Number).StallTotals[record.StallByDevice]
	assert.Positive(t, totals.Count)
}

// run runs a sampler until the test ends.
func run(t *testing.T, s *Sampler) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
}
