package iolatency

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Indexes in requestPrograms of the programs that the tests below detach.
const (
	whenCompleted = 0
	whenIssued    = 3
)

// without calls do while a program is detached. The kernel likewise skips a program that would interrupt
// itself.
func without(t *testing.T, tracer *Tracer, program int, do func()) {
	t.Helper()
	require.NoError(t, tracer.kernel.links[program].Close())
	do()
	links, err := attach(tracer.kernel.requestPrograms()[program : program+1])
	require.NoError(t, err)
	tracer.kernel.links[program] = links[0]
}

func startFollowing(t *testing.T, number string) *Tracer {
	t.Helper()
	testenv.Root(t)
	tracer, err := Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tracer.Close()) })
	require.NoError(t, tracer.Follow(map[string]Device{number: {Requests: true}}))
	return tracer
}

// The end of some bios is missed. It is known once the kernel uses them again.
func TestABioWhoseEndIsMissedIsMissed(t *testing.T) {
	path := testenv.Zram(t)
	number := testenv.DeviceNumber(t, path)
	tracer := startFollowing(t, number)
	require.NoError(t, tracer.Follow(map[string]Device{number: {}}))
	read := "dd if=" + path + " of=/dev/null bs=4k count=100 iflag=direct status=none"
	require.NoError(t, tracer.kernel.bios[0].Close())
	sh(t, read)
	require.Zero(t, countedIOs(tracer, number, 0))
	links, err := attach(tracer.kernel.bioPrograms()[:1])
	require.NoError(t, err)
	tracer.kernel.bios[0] = links[0]
	sh(t, read)
	n := tracer.Missed()
	assert.Positive(t, n[record.MissNotEnded], n)
	assert.LessOrEqual(t, n[record.MissNotEnded], uint64(100))
}

// countedIOs returns the number of reads that took the device at least that long.
func countedIOs(tracer *Tracer, number string, least time.Duration) (n uint64) {
	for _, h := range tracer.Of(number).Histograms {
		for bucket, ios := range h.Buckets {
			if h.Stage == record.StageDevice && h.Operation == record.OperationRead && bucket > record.IOBucketOf(least) {
				n += ios
			}
		}
	}
	return n
}

// sh runs a script on one CPU, so that the kernel reuses the same requests.
func sh(t *testing.T, script string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Installed(t, "taskset"), "--cpu-list", "0", "sh", "-ec", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The end of some reads is missed. What is not I/O then reuses their requests, and must not count: commands, and
// flushes that applications ask for, which end without having been issued.
func TestAnIOWhoseEndIsMissedIsNotEndedByOthers(t *testing.T) {
	testenv.Installed(t, "fio")
	serials, err := filepath.Glob("/sys/block/vd*/serial") // each read of it sends the virtio disk a command
	require.NoError(t, err)
	if len(serials) == 0 {
		t.Skip("no virtio disk")
	}
	serial := serials[0]
	number, err := os.ReadFile(filepath.Join(filepath.Dir(serial), "dev"))
	require.NoError(t, err)
	file := filepath.Join(testenv.OnDisk(t), "file")
	sh(t, "dd if=/dev/zero of="+file+" bs=64k count=256 conv=fsync status=none")
	device := strings.TrimSpace(string(number))
	for name, others := range map[string]string{
		"commands": "cat" + strings.Repeat(" "+serial, 200),
		"flushes":  "for i in $(seq 200); do sync " + file + "; done",
	} {
		t.Run(name, func(t *testing.T) {
			tracer := startFollowing(t, device)
			began := time.Now()
			without(t, tracer, whenCompleted, func() {
				sh(t, "fio --name=a --filename="+file+" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=128 --number_ios=1024 >/dev/null")
			})
			assert.Positive(t, tracer.Missed()[record.MissNotEnded])
			const old = 3 * time.Second
			require.Zero(t, countedIOs(tracer, device, old))
			<-time.After(time.Until(began.Add(2 * old)))
			sh(t, "for i in $(seq 32); do taskset --cpu-list $((i % $(nproc --all))) sh -c '"+others+"' & done; wait")
			assert.Zero(t, countedIOs(tracer, device, old))
		})
	}
}

// The end of some reads is missed. Then the device leaves and comes back, and the begin of the first reads is
// missed.
func TestAnIOOfADeviceThatLeftIsNotThatOfTheNext(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	tracer := startFollowing(t, device.Number)
	read := "dd if=" + device.Path + " of=/dev/null bs=64k iflag=direct status=none"
	without(t, tracer, whenCompleted, func() { sh(t, read) })
	require.NoError(t, tracer.Follow(nil))
	require.NoError(t, tracer.Follow(map[string]Device{device.Number: {Requests: true}}))
	require.Zero(t, tracer.Missed()[record.MissNotBegun])
	without(t, tracer, whenIssued, func() { sh(t, read) })
	assert.Zero(t, countedIOs(tracer, device.Number, 0))
	missed := tracer.Missed()
	assert.LessOrEqual(t, missed[record.MissNotBegun], uint64(256))
	// An end is not seen if it came while the end of another device's I/O was being handled.
	assert.GreaterOrEqual(t, missed[record.MissNotBegun]+missed[record.MissRecursion], uint64(256))
}
