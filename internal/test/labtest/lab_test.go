package labtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The drives of a machine.
const (
	plain  = "plain"  // fully written, on NUMA node 0
	remote = "remote" // fully written, on NUMA node 1, with blocks of 4 KiB, an EUI64, and throttling
	dual   = "dual"   // fully written, with two controllers
	half   = "half"   // half of it is written
	sparse = "sparse" // nothing is written
	clone0 = "clone0" // has one serial number with
	clone1 = "clone1" // this one, and nothing distinguishes them
	twin0  = "twin0"  // has one serial number with
	twin1  = "twin1"  // this one, but they have EUI64s
	spare  = "spare"  // fully written, not plugged in at boot
	roomy  = "roomy"  // large enough for a filesystem with a probe file
)

// metricsPort is where daemons in the machine listen.
const metricsPort = 10040

// machine starts a machine with all these drives.
func machine(t *testing.T) *lab.Machine {
	t.Helper()
	return lab.Start(t, lab.Options{
		Drives: []lab.Drive{
			{ID: plain, WrittenRatio: 1},
			{ID: remote, WrittenRatio: 1, NUMANode: 1, LogicalBlockBytes: 4096, EUI64: 0x5254000000000001, Throttles: true},
			{ID: dual, WrittenRatio: 1, SizeBytes: 32 << 20, Controllers: 2},
			{ID: half, WrittenRatio: 0.5, SizeBytes: 32 << 20},
			{ID: sparse},
			{ID: clone0, Serial: "CLONE", SizeBytes: 8 << 20},
			{ID: clone1, Serial: "CLONE", SizeBytes: 8 << 20},
			{ID: twin0, Serial: "TWIN", SizeBytes: 8 << 20, EUI64: 0x5254000000000010},
			{ID: twin1, Serial: "TWIN", SizeBytes: 8 << 20, EUI64: 0x5254000000000011},
			{ID: spare, WrittenRatio: 1, SizeBytes: 8 << 20, Unplugged: true},
			{ID: roomy, SizeBytes: 512 << 20},
		},
		Files:        map[string]string{"/usr/local/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")},
		Programs:     []string{"dmsetup", "mkfs.ext4", "filefrag"},
		Modules:      []string{"dm-mod", "nvmet-tcp", "nvme-tcp"},
		NUMANodes:    2,
		ForwardPorts: []int{metricsPort},
		// Each controller gets one more queue, which is polled and has no interrupt.
		KernelArgs: []string{"nvme.poll_queues=1"},
	})
}

// part is a test that shares its machine with others.
type part struct {
	name string
	run  func(*testing.T, *lab.Machine)
}

// runParts runs the parts one after another, each with the machine restored to its initial state.
func runParts(t *testing.T, m *lab.Machine, parts []part) {
	t.Helper()
	begun := time.Now()
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			begun := time.Now()
			m.RestoreAfter(t)
			part.run(t, m)
			t.Logf("took %v", time.Since(begun).Round(time.Millisecond))
		})
	}
	t.Logf("booted in %v, all took %v", m.BootTime().Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
}

// TestDrives tests what drives report, and events that happen to them.
func TestDrives(t *testing.T) {
	t.Parallel()
	runParts(t, machine(t), []part{
		{"devices", testDevices},
		{"clones", testClones},
		{"smart", testSmart},
		{"features", testFeatures},
		{"counters", testCounters},
		{"busy", testBusy},
		{"interrupts", testInterrupts},
		{"interrupts per IO", testInterruptsPerIO},
		{"critical warning", testCriticalWarning},
		{"unplug", testUnplug},
		{"unplug during fio", testUnplugDuringFio},
		{"unplug during smart", testUnplugDuringSmart},
		{"controller reset", testControllerReset},
		{"nodes are closed", testNodesAreClosed},
		{"path lost", testPathLost},
		{"media error", testMediaError},
		{"dead device", testDeadDevice},
		{"write error", testWriteError},
		{"unwritten", testUnwritten},
		{"half written", testHalfWritten},
		{"memory of its node", testMemoryOfItsNode},
	})
}

// TestTrouble tests devices that do not answer, and a machine in which much changes.
func TestTrouble(t *testing.T) {
	t.Parallel()
	runParts(t, machine(t), []part{
		{"unprivileged", testUnprivileged},
		{"hung device", testHungDevice},
		{"run on a hung device", testRunOnHungDevice},
		{"silent drive", testSilentDrive},
		{"stalls", testStalls},
		{"latency of io", testIOLatency},
		{"resized device", testResizedDevice},
		{"drive behind a network", testRemoteDrive},
		{"slow drive", testSlowDrive},
		{"killed", testKilled},
		{"clock steps", testClockSteps},
		{"suspend", testSuspend},
	})
}

// bound is far more than anything here takes, even on a busy machine.
const bound = 5 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

// afterwards is like bounded, for cleanups after the test and its context have ended.
func afterwards(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until something can be observed.
func eventually(t *testing.T, what string, seen func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, bound, 500*time.Millisecond, what, seen)
}
