package health_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// machine has two nodes with two CPUs each, and an NVMe drive at node 1.
type machine struct {
	t    *testing.T
	root string
	fs   sysfs.FS
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t: t, root: t.TempDir()}
	m.fs = sysfs.New(m.root)
	m.set(map[string]string{
		"sys/devices/system/node/node1/cpulist":   "2-3\n",
		"sys/class/nvme/nvme0/nvme0n1/stat":       stat(100),
		"sys/class/nvme/nvme0/nvme0n2/stat":       stat(0),
		"sys/class/nvme/nvme0/power/x":            "",
		"proc/irq/41/effective_affinity_list":     "2\n",
		"sys/devices/system/node/node7/cpulist":   "nonsense\n",
		"sys/block/vda/stat":                      stat(50),
		"sys/class/nvme/nvme1/nvme1c1n1/stat":     "1 2 3\n",
		"sys/class/nvme/nvme2/device/numa_node":   "-1\n",
		"sys/class/nvme/nvme2/nvme2n1/queue/nope": "",
	})
	return m
}

func (m machine) set(files map[string]string) { sysfstest.Add(m.t, m.root, files, nil) }

func stat(reads int) string {
	return fmt.Sprintf("%d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", reads)
}

// table writes /proc/interrupts with the counts of three queues on CPUs 0 to 3.
func (m machine) table(admin, first, second [4]uint64) {
	text := "            CPU0       CPU1       CPU2       CPU3\n"
	for i, counts := range [][4]uint64{admin, first, second} {
		text += fmt.Sprintf(" %d: %d %d %d %d  PCI-MSIX-0000:01:00.0 %d-edge nvme0q%d\n", 40+i, counts[0], counts[1], counts[2], counts[3], i, i)
	}
	m.set(map[string]string{"proc/interrupts": text + "NMI: 0 0 0 0 Non-maskable interrupts\n"})
}

func nvme0(node int) []health.Source {
	return []health.Source{{Name: "nvme0", Kind: record.ControllerNVMe, NUMANode: node, Devices: []record.Device{{ID: "a", Name: "nvme0n1"}}}}
}

func TestInterruptsOfAController(t *testing.T) {
	m := newMachine(t)
	meter := health.NewMeter(m.fs)
	start := time.Now()

	m.table([4]uint64{19}, [4]uint64{0, 1, 500, 0}, [4]uint64{0, 0, 0, 700})
	found, err := meter.Read(start, nvme0(1))
	require.NoError(t, err)
	want := record.Interrupts{
		Time: start, Count: 19 + 501 + 700, Remote: new(uint64(20)),
		Queues: []record.QueueInterrupts{
			{Queue: "0", Number: "40", Count: 19}, {Queue: "1", Number: "41", Count: 501, CPUs: "2"}, {Queue: "2", Number: "42", Count: 700},
		},
	}
	assert.Equal(t, map[string]record.Interrupts{"nvme0": want}, found)

	// 60 I/Os and 90 interrupts later; those of the admin queue do not count.
	m.table([4]uint64{1019}, [4]uint64{0, 1, 530, 0}, [4]uint64{0, 0, 0, 760})
	m.set(map[string]string{"sys/class/nvme/nvme0/nvme0n1/stat": stat(140), "sys/class/nvme/nvme0/nvme0n2/stat": stat(20)})
	found, err = meter.Read(start.Add(time.Minute), nvme0(1))
	require.NoError(t, err)
	want.Time, want.Remote, want.PerIO, want.Span = start.Add(time.Minute), new(uint64(1020)), new(1.5), time.Minute
	want.Queues[0].Count, want.Queues[1].Count, want.Queues[2].Count = 1019, 531, 760
	want.Count = 1019 + 531 + 760
	assert.Equal(t, map[string]record.Interrupts{"nvme0": want}, found)

	// No I/O since: nothing to divide by.
	found, err = meter.Read(start.Add(2*time.Minute), nvme0(1))
	require.NoError(t, err)
	assert.Nil(t, found["nvme0"].PerIO)
}

// A controller may give a queue an interrupt that another has given back.
func TestQueuesAreInTheOrderOfTheirNumbers(t *testing.T) {
	m := newMachine(t)
	text := "            CPU0\n"
	for i, queue := range []int{10, 0, 2, 1} {
		text += fmt.Sprintf(" %d: 0  PCI-MSIX-0000:01:00.0 %d-edge nvme0q%d\n", 40+i, queue, queue)
	}
	m.set(map[string]string{"proc/interrupts": text})
	found, err := health.NewMeter(m.fs).Read(time.Now(), nvme0(1))
	require.NoError(t, err)
	var queues []string
	for _, q := range found["nvme0"].Queues {
		queues = append(queues, q.Queue)
	}
	assert.Equal(t, []string{"0", "1", "2", "10"}, queues)
}

func TestCountsOnlyGrow(t *testing.T) {
	m := newMachine(t)
	meter := health.NewMeter(m.fs)
	read := func(first [4]uint64) uint64 {
		t.Helper()
		m.table([4]uint64{}, first, [4]uint64{})
		found, err := meter.Read(time.Now(), nvme0(1))
		require.NoError(t, err)
		return found["nvme0"].Queues[1].Count
	}
	const most = math.MaxUint32
	assert.EqualValues(t, most-1+5, read([4]uint64{most - 1, 5, 0, 0}))
	assert.EqualValues(t, most+10+5, read([4]uint64{9, 5, 0, 0}), "the kernel's 32 bits went over")
	assert.EqualValues(t, most+10+5+3, read([4]uint64{3, 0, 0, 0}), "the controller was reset")

	// CPU 1 goes offline: its column is gone, but not what it counted.
	m.set(map[string]string{"proc/interrupts": "      CPU0  CPU2 CPU3\n 41: 4 0 0 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n"})
	found, err := meter.Read(time.Now(), nvme0(1))
	require.NoError(t, err)
	assert.EqualValues(t, most+10+5+4, found["nvme0"].Queues[0].Count)
}

// The kernel's counts fall when a controller is reset. A daemon that began with them would export less after its restart
// than before, and Prometheus would take all that the kernel has counted for an increase.
func TestCountsFromZero(t *testing.T) {
	m := newMachine(t)
	sources := nvme0(1)
	sources[0].EveryQueue = true
	meter := health.NewMeter(m.fs)
	meter.FromZero = true
	read := func() record.Interrupts {
		t.Helper()
		found, err := meter.Read(time.Now(), sources)
		require.NoError(t, err)
		return found["nvme0"]
	}
	sums := func(i record.Interrupts) (all, remote uint64) {
		t.Helper()
		var queues, far uint64
		for _, q := range i.Queues {
			queues, far = queues+q.Count, far+*q.Remote
		}
		assert.Equal(t, i.Count, queues)
		assert.Equal(t, *i.Remote, far)
		return i.Count, *i.Remote
	}
	m.table([4]uint64{19}, [4]uint64{0, 1, 500, 0}, [4]uint64{0, 0, 0, math.MaxUint32})
	first := read()
	assert.Equal(t, first.Time, first.Since)
	all, remote := sums(first)
	assert.Zero(t, all)
	assert.Zero(t, remote)

	m.table([4]uint64{20}, [4]uint64{3, 1, 500, 0}, [4]uint64{0, 0, 0, 4})
	all, remote = sums(read())
	assert.EqualValues(t, 1+3+5, all, "a CPU that had counted none counts, and so does one that went over")
	assert.EqualValues(t, 1+3, remote)

	m.table([4]uint64{2}, [4]uint64{0, 0, 7, 0}, [4]uint64{0, 0, 0, 4})
	all, _ = sums(read())
	assert.EqualValues(t, 9+2+7, all, "the controller was reset")
}

// The column of a CPU that was offline comes back with what the CPU had counted before.
func TestACPUThatComesOnlineAddsNothingOld(t *testing.T) {
	m := newMachine(t)
	meter := health.NewMeter(m.fs)
	meter.FromZero = true
	for _, step := range []struct {
		table string
		want  uint64
	}{
		{"      CPU0 CPU2\n 41: 4 9 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n", 0},
		{"      CPU0 CPU1 CPU2\n 41: 5 70000 9 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n", 1},
		{"      CPU0 CPU1 CPU2\n 41: 5 70002 9 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n", 3},
		{"      CPU0 CPU1 CPU2\n 41: 5 70002 9 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n 42: 6 0 0 PCI-MSIX-0000:01:00.0 2-edge nvme0q2\n", 9},
	} {
		m.set(map[string]string{"proc/interrupts": step.table})
		found, err := meter.Read(time.Now(), nvme0(-1))
		require.NoError(t, err)
		assert.Equal(t, step.want, found["nvme0"].Count, step.table)
	}
}

// A node lists only the CPUs that are online, so one that goes offline leaves the list. What it counted was local all the
// same: otherwise the counter of remote interrupts would jump now, and that of the local ones would fall.
func TestACPUThatGoesOfflineStaysNear(t *testing.T) {
	m := newMachine(t)
	meter := health.NewMeter(m.fs)
	sources := nvme0(1)
	sources[0].EveryQueue = true
	read := func() (remote, local uint64) {
		t.Helper()
		found, err := meter.Read(time.Now(), sources)
		require.NoError(t, err)
		queues := found["nvme0"].Queues
		return *found["nvme0"].Remote, *queues[len(queues)-1].Local
	}
	m.table([4]uint64{}, [4]uint64{}, [4]uint64{7, 0, 500, 3})
	remote, local := read()
	assert.EqualValues(t, 7, remote)
	assert.EqualValues(t, 503, local)

	m.set(map[string]string{
		"sys/devices/system/node/node1/cpulist": "3\n",
		"proc/interrupts":                       "      CPU0  CPU1 CPU3\n 42: 8 0 5 PCI-MSIX-0000:01:00.0 2-edge nvme0q2\n",
	})
	remote, local = read()
	assert.EqualValues(t, 8, remote)
	assert.EqualValues(t, 505, local)
}

// A controller that is being reset has no interrupts for a moment, and then starts from zero.
func TestCountsOutliveAReset(t *testing.T) {
	m := newMachine(t)
	meter := health.NewMeter(m.fs)
	start := time.Now()
	read := func() record.Interrupts {
		t.Helper()
		found, err := meter.Read(start, nvme0(1))
		require.NoError(t, err)
		return found["nvme0"]
	}
	m.table([4]uint64{19}, [4]uint64{0, 1, 500, 0}, [4]uint64{0, 0, 0, 700})
	read()
	m.set(map[string]string{"proc/interrupts": "      CPU0  CPU1 CPU2 CPU3\n"})
	assert.Equal(t, record.Interrupts{}, read())
	m.set(map[string]string{"proc/interrupts": "      CPU0  CPU1 CPU2 CPU3\n 40: 2 0 0 0 PCI-MSIX-0000:01:00.0 0-edge nvme0q0\n"})
	during := read()
	assert.Equal(t, []record.QueueInterrupts{{Queue: "0", Number: "40", Count: 21}}, during.Queues)
	assert.EqualValues(t, 21+501+700, during.Count, "no counter goes down")
	m.table([4]uint64{2}, [4]uint64{0, 0, 3, 0}, [4]uint64{0, 0, 0, 4})
	m.set(map[string]string{"sys/class/nvme/nvme0/nvme0n1/stat": stat(107)})
	after := read()
	assert.Equal(t, record.Interrupts{
		Time: start, Count: 21 + 504 + 704, Remote: new(uint64(19 + 1 + 2)), PerIO: new(1.0), Queues: []record.QueueInterrupts{
			{Queue: "0", Number: "40", Count: 21}, {Queue: "1", Number: "41", Count: 504, CPUs: "2"}, {Queue: "2", Number: "42", Count: 704},
		},
	}, after)
}

func TestQueuesThatShareAnInterrupt(t *testing.T) {
	m := newMachine(t)
	m.set(map[string]string{"proc/interrupts": "  CPU0\n 9: 8 IO-APIC 9-fasteoi nvme0q0, nvme0q1\n"})
	found, err := health.NewMeter(m.fs).Read(time.Now(), nvme0(-1))
	require.NoError(t, err)
	assert.Equal(t, []record.QueueInterrupts{{Queue: "0,1", Number: "9", Count: 8}}, found["nvme0"].Queues)
	assert.Nil(t, found["nvme0"].Remote, "the machine does not say where the drive is")
}

func TestInterruptsOfVirtio(t *testing.T) {
	m := newMachine(t)
	source := []health.Source{{Name: "virtio1", Kind: record.ControllerVirtio, NUMANode: -1, Devices: []record.Device{{Name: "vda"}}}}
	meter := health.NewMeter(m.fs)
	write := func(config, request int) {
		m.set(map[string]string{"proc/interrupts": fmt.Sprintf("  CPU0\n 9: %d PCI-MSI 1-edge virtio1-config\n 10: %d PCI-MSI 2-edge virtio1-req.0\n", config, request)})
	}
	write(1, 10)
	_, err := meter.Read(time.Now(), source)
	require.NoError(t, err)
	write(100, 40)
	m.set(map[string]string{"sys/block/vda/stat": stat(80)})
	found, err := meter.Read(time.Now(), source)
	require.NoError(t, err)
	assert.Equal(t, 1.0, *found["virtio1"].PerIO)
	assert.Equal(t, "req.0", found["virtio1"].Queues[1].Queue)
}

// A file that cannot be read costs only the figure that needs it; other sources are not affected.
func TestInterruptsOfWhichSomeCannotBeRead(t *testing.T) {
	m := newMachine(t)
	m.set(map[string]string{"proc/interrupts": "  CPU0\n 9: 8 PCI-MSI 1-edge nvme0q1\n 10: 4 PCI-MSI 1-edge nvme1q1\n 11: 2 PCI-MSI 1-edge nvme2q1\n"})
	sources := append(nvme0(7), health.Source{Name: "nvme1", Kind: record.ControllerNVMe, NUMANode: 9}, health.Source{Name: "nvme2", Kind: record.ControllerNVMe, NUMANode: -1})
	found, err := health.NewMeter(m.fs).Read(time.Now(), sources)
	require.ErrorContains(t, err, "interrupts of nvme0")
	require.ErrorContains(t, err, "nvme1c1n1/stat")
	assert.EqualValues(t, 8, found["nvme0"].Queues[0].Count)
	assert.Nil(t, found["nvme0"].Remote)
	assert.EqualValues(t, 4, found["nvme1"].Queues[0].Count)
	assert.Nil(t, found["nvme1"].Remote, "there is no node 9")
	assert.EqualValues(t, 2, found["nvme2"].Queues[0].Count)

	m.set(map[string]string{"proc/interrupts": "broken\n"})
	found, err = health.NewMeter(m.fs).Read(time.Now(), sources)
	require.Error(t, err)
	assert.Nil(t, found)
}

// This machine's own files, whatever drives it has.
func TestInterruptsOfThisMachine(t *testing.T) {
	host := sysfs.New("/")
	devices, err := device.Scan(host)
	require.NoError(t, err)
	sources := health.Sources(host, devices)
	found, err := health.NewMeter(host).Read(time.Now(), sources)
	require.NoError(t, err)
	for name, i := range found {
		assert.NotEmpty(t, i.Queues, name)
	}
}

// With EveryQueue, each queue reports how many interrupts were taken near the drive and how many were not.
func TestInterruptsOfEveryQueue(t *testing.T) {
	m := newMachine(t)
	m.set(map[string]string{"proc/irq/41/smp_affinity_list": "2-3\n"})
	m.table([4]uint64{19}, [4]uint64{0, 1, 500, 0}, [4]uint64{0, 0, 0, 700})
	every := func(node int) []health.Source {
		sources := nvme0(node)
		sources[0].EveryQueue = true
		return sources
	}
	found, err := health.NewMeter(m.fs).Read(time.Now(), every(1))
	require.NoError(t, err)
	assert.Equal(t, []record.QueueInterrupts{
		{Queue: "0", Number: "40", Count: 19, Local: new(uint64(0)), Remote: new(uint64(19))},
		{Queue: "1", Number: "41", Count: 501, CPUs: "2", Affinity: "2-3", Local: new(uint64(500)), Remote: new(uint64(1))},
		{Queue: "2", Number: "42", Count: 700, Local: new(uint64(700)), Remote: new(uint64(0))},
	}, found["nvme0"].Queues)
	found, err = health.NewMeter(m.fs).Read(time.Now(), every(-1))
	require.NoError(t, err)
	for _, q := range found["nvme0"].Queues {
		assert.Nil(t, q.Local, "nobody says where the drive is")
		assert.Nil(t, q.Remote)
	}
}
