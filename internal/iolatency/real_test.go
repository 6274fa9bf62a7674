package iolatency_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/iolatency"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// start loads the programs, and unloads them when the test ends.
func start(t *testing.T) *iolatency.Tracer {
	t.Helper()
	testenv.Root(t) // with CAP_BPF and CAP_PERFMON, and a kernel with BTF
	tracer, err := iolatency.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tracer.Close()) })
	return tracer
}

// follow makes a tracer time one device.
func follow(t *testing.T, tracer *iolatency.Tracer, number string, d iolatency.Device) {
	t.Helper()
	require.NoError(t, tracer.Follow(map[string]iolatency.Device{number: d}))
}

// fio runs fio with direct I/O on a device and returns what it measured.
func fio(t *testing.T, path string, arguments ...string) fioJob {
	t.Helper()
	return fioIn(t, "", path, arguments...)
}

// fioIn does the same in a control group, unless group is empty.
func fioIn(t *testing.T, group, path string, arguments ...string) fioJob {
	t.Helper()
	arguments = append([]string{"--name=a", "--filename=" + path, "--direct=1", "--output-format=json"}, arguments...)
	testenv.Installed(t, "fio")
	c := exec.CommandContext(t.Context(), testenv.Installed(t, "chrt"), append([]string{"--fifo", "1", "fio"}, arguments...)...) // to wake up at once
	if group != "" {
		c = testenv.InCGroup(c, group)
	}
	out, err := c.Output()
	require.NoError(t, err, "%s", out)
	var result struct{ Jobs []fioJob }
	require.NoError(t, json.Unmarshal(out, &result))
	require.Len(t, result.Jobs, 1)
	return result.Jobs[0]
}

type fioJob struct{ Read, Write fioSide }

type fioSide struct {
	Total   uint64 `json:"total_ios"`
	Latency struct {
		Mean       float64
		Percentile map[string]float64
	} `json:"clat_ns"`
}

// scheduler sets the I/O scheduler of a device until the test ends; otherwise the next device with its number
// would have it, too.
func scheduler(t *testing.T, device testenv.Loop, name string) {
	t.Helper()
	path := filepath.Join("/sys/block", filepath.Base(device.Path), "queue/scheduler")
	require.NoError(t, os.WriteFile(path, []byte(name), 0o600))
	t.Cleanup(func() { require.NoError(t, os.WriteFile(path, []byte("none"), 0o600)) })
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

// of returns the histogram of an operation in a stage; an empty one when there is none.
func of(tracer *iolatency.Tracer, number string, operation record.Operation, stage record.IOStage) record.IOHistogram {
	for _, h := range tracer.Of(number).Histograms {
		if h.Operation == operation && h.Stage == stage {
			return h
		}
	}
	return record.IOHistogram{}
}

// ios returns the number of I/Os of each operation in a stage.
func ios(tracer *iolatency.Tracer, number string, stage record.IOStage) map[record.Operation]uint64 {
	n := map[record.Operation]uint64{}
	for _, o := range record.Operations() {
		n[o] = of(tracer, number, o, stage).Count()
	}
	return n
}

// A flush by an application counts in /proc/diskstats as a write and as a flush. Here it is one flush.
func TestEachIOIsCountedAsTheKernelCounts(t *testing.T) {
	device := testenv.LoopDevice(t, 64<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	for _, name := range []string{"none", "mq-deadline", "bfq"} {
		t.Run(name, func(t *testing.T) {
			scheduler(t, device, name)
			tracer := start(t)
			follow(t, tracer, device.Number, iolatency.Device{Requests: true})
			// I/Os whose end was missed are known once the kernel reuses their requests, which happens as the
			// test goes on.
			short := uncounted(t, tracer, device)
			for attempt := 1; short > 0 && attempt < 3; attempt++ {
				t.Logf("%d I/Os are neither counted nor missed: %v", short, tracer.Missed())
				short = uncounted(t, tracer, device)
			}
			assert.Zero(t, short, "neither counted nor missed, three times: %v", tracer.Missed())
			queued := ios(tracer, device.Number, record.StageQueue)
			if name != "none" {
				assert.Equal(t, ios(tracer, device.Number, record.StageDevice)[record.OperationRead], queued[record.OperationRead], "all pass the scheduler")
			}
		})
	}
}

// sum returns how many I/Os were missed for any reason.
func sum(missed map[record.IOMiss]uint64) (n uint64) {
	for _, m := range missed {
		n += m
	}
	return n
}

// uncounted returns how many I/Os of all kinds were neither counted nor missed.
func uncounted(t *testing.T, tracer *iolatency.Tracer, device testenv.Loop) (short uint64) {
	t.Helper()
	before, old, missed := counted(t, device.Number), ios(tracer, device.Number, record.StageDevice), sum(tracer.Missed())
	fio(t, device.Path, "--ioengine=libaio", "--rw=randrw", "--bs=4k", "--iodepth=32", "--size=8m", "--fsync=64")
	fio(t, device.Path, "--ioengine=psync", "--rw=trim", "--bs=64k", "--size=8m")
	fio(t, device.Path, "--ioengine=libaio", "--rw=write", "--bs=4k", "--iodepth=32", "--iodepth_batch=16", "--size=8m") // merged
	fio(t, device.Path, "--ioengine=psync", "--direct=0", "--rw=write", "--bs=1m", "--size=32m", "--end_fsync=1")        // split
	// Before the kernel's counts: somebody may write between the two.
	got := ios(tracer, device.Number, record.StageDevice)
	since, ok := counted(t, device.Number).Since(before)
	require.True(t, ok)
	assert.Positive(t, since.WriteMerges)
	missed = sum(tracer.Missed()) - missed // 0, or a few of thousands
	for operation, want := range map[record.Operation]uint64{
		record.OperationRead: since.ReadIOs, record.OperationWrite: since.WriteIOs - since.Flushes.IOs,
		record.OperationDiscard: since.Discards.IOs, record.OperationFlush: since.Flushes.IOs,
	} {
		n := got[operation] - old[operation]
		assert.LessOrEqual(t, n, want, operation)
		short += want - min(n, want)
	}
	return short - min(missed, short)
}

// The disk below the device allows fio few I/Os a second, so each waits in the device for tens of milliseconds.
// The time that fio needs to wake up is small in comparison, unless the host of this virtual machine takes the
// CPU away. So up to three attempts are allowed.
func TestHistogramIsWhatFioMeasures(t *testing.T) {
	below := testenv.LoopDevice(t, 64<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	path := testenv.Losetup(t, "--find", "--show", "--direct-io=on", below.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", path) })
	number := testenv.DeviceNumber(t, path)
	tracer := start(t)
	for _, depth := range []int{1, 8} {
		limited := testenv.Throttled(t, below.Number, 10*depth) // the kernel throttles in slices of 0.1 s
		for _, operation := range []record.Operation{record.OperationRead, record.OperationWrite} {
			t.Run(fmt.Sprintf("%s at depth %d", operation, depth), func(t *testing.T) {
				differs := "not compared"
				for attempt := 0; attempt < 3 && differs != ""; attempt++ {
					require.NoError(t, tracer.Follow(nil))
					before := counted(t, number)
					follow(t, tracer, number, iolatency.Device{Requests: true})
					job := fioIn(t, limited, path, "--ioengine=libaio", "--rw=rand"+string(operation), "--bs=4k",
						fmt.Sprintf("--iodepth=%d", depth), fmt.Sprintf("--number_ios=%d", 25*depth))
					want, got := job.Read, of(tracer, number, operation, record.StageDevice)
					if operation == record.OperationWrite {
						want = job.Write
					}
					since, _ := counted(t, number).Since(before)
					missed := tracer.Missed()
					// I/Os whose end was missed just before this may not be known yet.
					require.GreaterOrEqual(t, got.Count()+sum(missed), since.IOs()*9/10, "%d were counted, and missed %v", got.Count(), missed)
					require.Greater(t, want.Latency.Mean, 2e6)
					differs = difference(want, got)
					t.Logf("fio: mean %v; the histogram: %v; %s", time.Duration(want.Latency.Mean), got.Mean(), differs)
				}
				assert.Empty(t, differs, "three times")
			})
		}
	}
}

// difference describes where a histogram differs from what fio measured: the mean by more than 3 %, percentiles
// by more than a bucket.
func difference(want fioSide, got record.IOHistogram) string {
	if off := float64(got.Mean())/want.Latency.Mean - 1; math.Abs(off) > 0.03 {
		return fmt.Sprintf("the mean is %+.1f %% of fio's", 100*off)
	}
	for percent, name := range map[float64]string{50: "50.000000", 99: "99.000000"} {
		bucket, _ := got.Percentile(percent)
		if fios := record.IOBucketOf(time.Duration(want.Latency.Percentile[name])); bucket < fios-1 || bucket > fios+1 {
			return fmt.Sprintf("p%v is in bucket %d, and fio's in %d", percent, bucket, fios)
		}
	}
	return ""
}

// A device without a request queue is timed by its bios. Bios of a memory device complete where they are
// submitted.
func TestDevicesWithoutRequests(t *testing.T) {
	tracer := start(t)
	path := testenv.Zram(t)
	number := testenv.DeviceNumber(t, path)
	follow(t, tracer, number, iolatency.Device{})
	fio(t, path, "--ioengine=psync", "--rw=randwrite", "--bs=4k", "--size=4m")
	fio(t, path, "--ioengine=libaio", "--iodepth=16", "--rw=randread", "--bs=64k", "--size=4m")
	n := ios(tracer, number, record.StageDevice)
	assert.EqualValues(t, 1024, n[record.OperationWrite])
	assert.EqualValues(t, 64, n[record.OperationRead])
	assert.Empty(t, of(tracer, number, record.OperationRead, record.StageQueue).Buckets)
}

// The disk below the device lets few I/Os pass, so each is slow. The submitter is reported only on request.
func TestSlowIOs(t *testing.T) {
	below := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	path := testenv.Losetup(t, "--find", "--show", "--direct-io=on", below.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", path) })
	number := testenv.DeviceNumber(t, path)
	volume := testenv.Zram(t)
	tracer := start(t)
	require.NoError(t, tracer.Follow(map[string]iolatency.Device{number: {Requests: true}, testenv.DeviceNumber(t, volume): {}}))
	group := testenv.Throttled(t, below.Number, 10)
	wanted := strings.TrimPrefix(group, "/sys/fs/cgroup")
	if strings.HasPrefix(wanted, "/blkio/") { // a version 1 group; under version 2, fio is in the group of this process
		own, err := os.ReadFile("/proc/self/cgroup")
		require.NoError(t, err)
		_, wanted, _ = strings.Cut(string(own), "0::")
		wanted, _, _ = strings.Cut(wanted, "\n")
	}
	for _, in := range []struct {
		scheduler string
		names     bool
	}{{"none", false}, {"none", true}, {"mq-deadline", true}} { // with a scheduler, kernel workers issue requests that waited
		scheduler(t, testenv.Loop{Path: path, Number: number}, in.scheduler)
		names := in.names
		_, err := tracer.Slow(names)
		require.NoError(t, err)
		fioIn(t, group, path, "--ioengine=libaio", "--rw=randwrite", "--bs=8k", "--iodepth=8", "--number_ios=16", "--size=8m")
		all, err := tracer.Slow(names)
		require.NoError(t, err)
		slow := all[number]
		require.Len(t, slow, 4, "the slowest")
		for i, s := range slow {
			assert.Equal(t, record.OperationWrite, s.Operation)
			assert.EqualValues(t, 8192, s.Bytes)
			assert.Zero(t, s.Sector%16)
			assert.Less(t, s.Sector, int64(8<<20/512))
			assert.Greater(t, s.Device, 50*time.Millisecond)
			assert.WithinDuration(t, time.Now(), s.Time, time.Minute)
			assert.True(t, i == 0 || !s.Time.Before(slow[i-1].Time), "in order")
			if !names {
				assert.Empty(t, s.Process+s.CGroup)
				assert.Zero(t, s.PID)
				continue
			}
			assert.Equal(t, "fio", s.Process)
			assert.Positive(t, s.PID)
			assert.Equal(t, wanted, s.CGroup)
		}
		assert.Empty(t, all[testenv.DeviceNumber(t, volume)])
	}
}

// I/O of this process is not an application's, and neither is any I/O during a run.
func TestOurOwnIOIsLeftOut(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	tracer := start(t)
	follow(t, tracer, device.Number, iolatency.Device{Requests: true})
	before := counted(t, device.Number)
	readHere(t, device.Path)
	since, _ := counted(t, device.Number).Since(before)
	require.EqualValues(t, 10, since.ReadIOs)
	assert.Empty(t, tracer.Of(device.Number).Histograms, "our own")

	follow(t, tracer, device.Number, iolatency.Device{Requests: true, Run: true})
	fio(t, device.Path, "--ioengine=psync", "--rw=read", "--bs=64k", "--size=1m")
	assert.Empty(t, tracer.Of(device.Number).Histograms, "during a run")

	follow(t, tracer, device.Number, iolatency.Device{Requests: true})
	fio(t, device.Path, "--ioengine=psync", "--rw=read", "--bs=64k", "--size=1m")
	assert.EqualValues(t, 16, of(tracer, device.Number, record.OperationRead, record.StageDevice).Count())
}

// Device numbers are reused, and there are few places where they are looked up.
func TestAThousandDevicesComeAndGo(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	tracer := start(t)
	others := map[string]iolatency.Device{}
	for i := range 50 {
		others[fmt.Sprintf("259:%d", i)] = iolatency.Device{Requests: true}
	}
	for i := range 1000 {
		wanted := maps.Clone(others)
		wanted[fmt.Sprintf("8:%d", i)] = iolatency.Device{Requests: true}
		require.NoError(t, tracer.Follow(wanted))
		require.Empty(t, tracer.Of(fmt.Sprintf("8:%d", i)).Unavailable, i)
	}
	others[device.Number] = iolatency.Device{Requests: true}
	require.NoError(t, tracer.Follow(others))
	fio(t, device.Path, "--ioengine=psync", "--rw=read", "--bs=64k", "--size=1m")
	assert.EqualValues(t, 16, of(tracer, device.Number, record.OperationRead, record.StageDevice).Count())

	for i := range 30 {
		others[fmt.Sprintf("65:%d", i)] = iolatency.Device{Requests: true}
	}
	require.NoError(t, tracer.Follow(others))
	full := 0
	for number := range others {
		if tracer.Of(number).Unavailable == record.IOLatencyFull {
			full++
		}
	}
	assert.Equal(t, len(others)-64, full)
	assert.EqualValues(t, 16, of(tracer, device.Number, record.OperationRead, record.StageDevice).Count(), "who was there stays")
}

// A drive that is pulled leaves its number to the next one. Both may happen between two calls of Follow.
func TestTheNextDriveWithTheNumberCountsFromZero(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	tracer := start(t)
	follow(t, tracer, device.Number, iolatency.Device{ID: "eui.1", Requests: true})
	fio(t, device.Path, "--ioengine=psync", "--rw=read", "--bs=64k", "--size=1m")
	follow(t, tracer, device.Number, iolatency.Device{ID: "eui.1", Requests: true})
	require.EqualValues(t, 16, of(tracer, device.Number, record.OperationRead, record.StageDevice).Count())
	follow(t, tracer, device.Number, iolatency.Device{ID: "eui.2", Requests: true})
	assert.Empty(t, tracer.Of(device.Number).Histograms)
	fio(t, device.Path, "--ioengine=psync", "--rw=read", "--bs=64k", "--size=512k")
	assert.EqualValues(t, 8, of(tracer, device.Number, record.OperationRead, record.StageDevice).Count())
}

// readHere reads ten blocks of a device in this process.
func readHere(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	require.NoError(t, err)
	defer f.Close()
	block, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned for O_DIRECT
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(block)) }()
	for i := range 10 {
		_, err := f.ReadAt(block, int64(i)*4096)
		require.NoError(t, err)
	}
}
