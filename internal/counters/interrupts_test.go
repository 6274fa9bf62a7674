package counters_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// Built from kernel/irq/proc.c and arch/arm64/kernel/smp.c: CPU 1 is offline, a wide count touches
// the colon, and one interrupt serves two queues.
const interruptsARM64 = `           CPU0       CPU2       CPU3
 11:   11302884   10943877   10922127     GICv3  27 Level     arch_timer
 13:          0          0          0     GICv3  23 Level     arm-pmu, 1c00000.pcie
 43:         12          0          0   ITS-MSI 524288 Edge      PCIe PME, aerdrv
 44:         31          0          0   ITS-PCI-MSI-0000:01:00.0   0 Edge      nvme0q0
 45:    4000001 4294967295          3   ITS-PCI-MSI-0000:01:00.0   1 Edge      nvme0q1
 46:          7          8          9   ITS-PCI-MSIX-0000:02:00.0  0 Edge      nvme1q0, nvme1q1
 47:          1          2          3   ITS-PCI-MSIX-0000:0a:00.0  1 Edge      nvme10q1
 48:          0          0          0      None
IPI0:    123456     234567     345678       Rescheduling interrupts
IPI5:1832994294 1832994295 1832994296       IRQ work interrupts
Err:          0
`

// Built from the same sources for x86: old and new chip names, no domain (Xen), one CPU.
const interruptsX86 = `            CPU0
   0:         29   IO-APIC-edge      timer
  16:         12  IR-IO-APIC   16-fasteoi   ehci_hcd:usb1, i801_smbus
  24:          3  xen-dyn    -event     xenbus
 120:     845210  IR-PCI-MSI 524289-edge      nvme0q1
 121:        100  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 122:        101  PCI-MSIX-0000:00:03.0   1-edge      virtio10-req.0
 NMI:        152   Non-maskable interrupts
 ERR:          0
`

func collect(r io.Reader) ([]counters.Interrupt, error) {
	var all []counters.Interrupt
	for line, err := range counters.ParseInterrupts(r) {
		if err != nil {
			return all, err
		}
		all = append(all, line)
	}
	return all, nil
}

func TestParseInterruptsARM64(t *testing.T) {
	got, err := collect(strings.NewReader(interruptsARM64))
	require.NoError(t, err)
	cpus := []int{0, 2, 3}
	assert.Equal(t, []counters.Interrupt{
		{Name: "11", CPUs: cpus, Counts: []uint64{11302884, 10943877, 10922127}, Chip: "GICv3", Trigger: "27 Level", Actions: []string{"arch_timer"}},
		{Name: "13", CPUs: cpus, Counts: []uint64{0, 0, 0}, Chip: "GICv3", Trigger: "23 Level", Actions: []string{"arm-pmu", "1c00000.pcie"}},
		{Name: "43", CPUs: cpus, Counts: []uint64{12, 0, 0}, Chip: "ITS-MSI", Trigger: "524288 Edge", Actions: []string{"PCIe PME", "aerdrv"}},
		{Name: "44", CPUs: cpus, Counts: []uint64{31, 0, 0}, Chip: "ITS-PCI-MSI-0000:01:00.0", Trigger: "0 Edge", Actions: []string{"nvme0q0"}},
		{Name: "45", CPUs: cpus, Counts: []uint64{4000001, 4294967295, 3}, Chip: "ITS-PCI-MSI-0000:01:00.0", Trigger: "1 Edge", Actions: []string{"nvme0q1"}},
		{Name: "46", CPUs: cpus, Counts: []uint64{7, 8, 9}, Chip: "ITS-PCI-MSIX-0000:02:00.0", Trigger: "0 Edge", Actions: []string{"nvme1q0", "nvme1q1"}},
		{Name: "47", CPUs: cpus, Counts: []uint64{1, 2, 3}, Chip: "ITS-PCI-MSIX-0000:0a:00.0", Trigger: "1 Edge", Actions: []string{"nvme10q1"}},
		{Name: "48", CPUs: cpus, Counts: []uint64{0, 0, 0}, Chip: "None"},
		{Name: "IPI0", CPUs: cpus, Counts: []uint64{123456, 234567, 345678}, Description: "Rescheduling interrupts"},
		{Name: "IPI5", CPUs: cpus, Counts: []uint64{1832994294, 1832994295, 1832994296}, Description: "IRQ work interrupts"},
		{Name: "Err", Counts: []uint64{0}},
	}, got)
	assert.Equal(t, uint64(4000001+4294967295+3), got[4].Total())
}

func TestParseInterruptsX86(t *testing.T) {
	got, err := collect(strings.NewReader(interruptsX86))
	require.NoError(t, err)
	cpus := []int{0}
	assert.Equal(t, []counters.Interrupt{
		{Name: "0", CPUs: cpus, Counts: []uint64{29}, Chip: "IO-APIC-edge", Actions: []string{"timer"}},
		{Name: "16", CPUs: cpus, Counts: []uint64{12}, Chip: "IR-IO-APIC", Trigger: "16-fasteoi", Actions: []string{"ehci_hcd:usb1", "i801_smbus"}},
		{Name: "24", CPUs: cpus, Counts: []uint64{3}, Chip: "xen-dyn", Trigger: "-event", Actions: []string{"xenbus"}},
		{Name: "120", CPUs: cpus, Counts: []uint64{845210}, Chip: "IR-PCI-MSI", Trigger: "524289-edge", Actions: []string{"nvme0q1"}},
		{Name: "121", CPUs: cpus, Counts: []uint64{100}, Chip: "PCI-MSIX-0000:00:02.0", Trigger: "1-edge", Actions: []string{"virtio1-req.0"}},
		{Name: "122", CPUs: cpus, Counts: []uint64{101}, Chip: "PCI-MSIX-0000:00:03.0", Trigger: "1-edge", Actions: []string{"virtio10-req.0"}},
		{Name: "NMI", CPUs: cpus, Counts: []uint64{152}, Description: "Non-maskable interrupts"},
		{Name: "ERR", CPUs: cpus, Counts: []uint64{0}},
	}, got)
}

func TestReadDeviceInterrupts(t *testing.T) {
	type served struct {
		name   string
		queues []string
	}
	for _, test := range []struct {
		text, device string
		want         []served
	}{
		{interruptsARM64, "nvme0", []served{{"44", []string{"0"}}, {"45", []string{"1"}}}},
		{interruptsARM64, "nvme1", []served{{"46", []string{"0", "1"}}}},
		{interruptsARM64, "nvme10", []served{{"47", []string{"1"}}}},
		{interruptsARM64, "nvme2", nil},
		{interruptsARM64, "nvme", nil},
		{interruptsARM64, "", nil},
		{interruptsX86, "virtio1", []served{{"121", []string{"req.0"}}}},
		{interruptsX86, "virtio10", []served{{"122", []string{"req.0"}}}},
	} {
		t.Run(test.device, func(t *testing.T) {
			fs := sysfstest.Make(t, map[string]string{"proc/interrupts": test.text}, nil)
			lines, err := counters.ReadDeviceInterrupts(fs, test.device)
			require.NoError(t, err)
			var got []served
			for _, line := range lines {
				got = append(got, served{line.Name, line.Queues(test.device)})
			}
			assert.Equal(t, test.want, got)
		})
	}
	_, err := counters.ReadDeviceInterrupts(sysfstest.Make(t, nil, nil), "nvme0")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// manyInterrupts returns the interrupts of 24 drives with 129 queues on a machine with 512 CPUs.
func manyInterrupts(tb testing.TB) sysfs.FS {
	tb.Helper()
	const cpus = 512
	var text strings.Builder
	for cpu := range cpus {
		fmt.Fprintf(&text, "       CPU%d", cpu)
	}
	counts := strings.Repeat("          0", cpus)
	for i := range 24 * 129 {
		fmt.Fprintf(&text, "\n %d:%s  IR-PCI-MSIX-0000:%02x:00.0 %d-edge nvme%dq%d", i, counts, i/129, i%129, i/129, i%129)
	}
	return sysfstest.Make(tb, map[string]string{"proc/interrupts": text.String() + "\n"}, nil)
}

// The lines of other devices have millions of counts on a large server. A line that is not parsed
// costs one allocation.
func TestReadDeviceInterruptsParsesNoOtherLines(t *testing.T) {
	fs := manyInterrupts(t)
	allocations := testing.AllocsPerRun(1, func() {
		lines, err := counters.ReadDeviceInterrupts(fs, "nvme7")
		require.NoError(t, err)
		require.Len(t, lines, 129)
	})
	assert.Less(t, allocations, 2.0*24*129)
}

// BenchmarkReadDeviceInterrupts measures the lookup of one controller in the table of a large server.
func BenchmarkReadDeviceInterrupts(b *testing.B) {
	fs := manyInterrupts(b)
	b.ReportAllocs()
	for b.Loop() {
		lines, err := counters.ReadDeviceInterrupts(fs, "nvme7")
		require.NoError(b, err)
		require.Len(b, lines, 129)
	}
}

// A captured file: Linux 6.18, x86, virtio devices, 2 CPUs.
func TestParseInterruptsCaptured(t *testing.T) {
	f, err := os.Open("testdata/interrupts-x86-virtio.txt")
	require.NoError(t, err)
	defer f.Close()
	got, err := collect(f)
	require.NoError(t, err)
	disk := []counters.Interrupt{}
	for _, line := range got {
		if len(line.Queues("virtio1")) > 0 {
			disk = append(disk, line)
		}
	}
	require.Len(t, disk, 2)
	assert.Equal(t, []string{"config"}, disk[0].Queues("virtio1"))
	assert.Equal(t, []string{"req.0"}, disk[1].Queues("virtio1"))
	assert.Equal(t, []int{0, 1}, disk[1].CPUs)
	assert.NotZero(t, disk[1].Total())
}

// A line of a machine with 8192 CPUs is longer than any fixed buffer.
func TestParseInterruptsHasNoLineLimit(t *testing.T) {
	const cpus = 8192
	var text strings.Builder
	for cpu := range cpus {
		fmt.Fprintf(&text, "       CPU%d", cpu)
	}
	text.WriteString("\n 45:")
	for cpu := range cpus {
		fmt.Fprintf(&text, " %10d", cpu)
	}
	text.WriteString("  PCI-MSIX-0000:01:00.0    1-edge      nvme0q1") // and no newline at the end
	got, err := collect(strings.NewReader(text.String()))
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Len(t, got[0].Counts, cpus)
	assert.Equal(t, uint64(cpus*(cpus-1)/2), got[0].Total())
	assert.Equal(t, []string{"1"}, got[0].Queues("nvme0"))
}

func TestParseInterruptsRefuses(t *testing.T) {
	const header = "  CPU0 CPU1\n"
	for name, text := range map[string]string{
		"empty file":                  "",
		"no CPU":                      "\n 1: 2 3 x y\n",
		"not a header":                " 45: 1 2 PCI-MSI 1-edge nvme0q1\n",
		"no colon":                    header + " 45  1 2 PCI-MSI 1-edge nvme0q1\n",
		"no name":                     header + " : 1 2 PCI-MSI 1-edge nvme0q1\n",
		"CPU left while reading":      header + " 45: 1 PCI-MSI 1-edge nvme0q1\n",
		"CPU came while reading":      header + " 45: 1 2 3 PCI-MSI 1-edge nvme0q1\n",
		"named, CPU came":             header + "LOC: 1 2 3 Local timer interrupts\n",
		"named, no count":             header + "LOC: Local timer interrupts\n",
		"count beyond what Go counts": header + " 45: 1 99999999999999999999 PCI-MSI 1-edge nvme0q1\n",
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := collect(strings.NewReader(text))
			require.Error(t, err)
			assert.Empty(t, lines)
		})
	}
}

func TestParseInterruptsStopsWhenAsked(t *testing.T) {
	seen := 0
	for _, err := range counters.ParseInterrupts(strings.NewReader(interruptsARM64)) {
		require.NoError(t, err)
		if seen++; seen == 2 {
			break
		}
	}
	assert.Equal(t, 2, seen)
}

func TestParseInterruptsOfThisMachine(t *testing.T) {
	f, err := sysfs.New("/").Open("/proc/interrupts")
	require.NoError(t, err)
	defer f.Close()
	got, err := collect(f)
	require.NoError(t, err)
	require.NotEmpty(t, got)
	online, err := os.ReadFile("/proc/cpuinfo")
	require.NoError(t, err)
	assert.Len(t, got[0].CPUs, strings.Count(string(online), "processor\t:"))
}

func FuzzParseInterrupts(f *testing.F) {
	f.Add(interruptsARM64)
	f.Add(interruptsX86)
	f.Add("CPU0\n1:2 x -a Edge ,,nvme0q0,\n")
	f.Fuzz(func(t *testing.T, text string) {
		for line, err := range counters.ParseInterrupts(strings.NewReader(text)) {
			if err != nil {
				return
			}
			require.NotEmpty(t, line.Name)
			require.True(t, len(line.Counts) == len(line.CPUs) || len(line.Counts) == 1 && line.CPUs == nil)
			require.LessOrEqual(t, len(line.Queues("nvme0")), len(line.Actions))
		}
	})
}

func TestInterruptsSince(t *testing.T) {
	line := func(name string, cpus []int, counts ...uint64) counters.Interrupt {
		return counters.Interrupt{Name: name, CPUs: cpus, Counts: counts}
	}
	two, other := []int{0, 1}, []int{0, 2}
	for name, c := range map[string]struct {
		before, after []counters.Interrupt
		want          uint64
		ok            bool
	}{
		"grown":             {[]counters.Interrupt{line("40", two, 5, 9), line("41", two, 0, 0)}, []counters.Interrupt{line("40", two, 8, 9), line("41", two, 0, 2)}, 5, true},
		"wrapped around":    {[]counters.Interrupt{line("40", two, 4294967290, 0)}, []counters.Interrupt{line("40", two, 4, 0)}, 10, true},
		"controller reset":  {[]counters.Interrupt{line("40", two, 1000, 0)}, []counters.Interrupt{line("40", two, 50, 0)}, 0, false},
		"CPU left":          {[]counters.Interrupt{line("40", two, 5, 9)}, []counters.Interrupt{line("40", two[:1], 20)}, 0, false},
		"another CPU came":  {[]counters.Interrupt{line("40", two, 5, 9)}, []counters.Interrupt{line("40", other, 5, 9000)}, 0, false},
		"another interrupt": {[]counters.Interrupt{line("40", two, 5, 9)}, []counters.Interrupt{line("41", two, 6, 9)}, 0, false},
		"queue left":        {[]counters.Interrupt{line("40", two, 5, 9), line("41", two, 0, 0)}, []counters.Interrupt{line("40", two, 6, 9)}, 0, false},
		"none":              {nil, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := counters.InterruptsSince(c.after, c.before)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.want, got)
		})
	}
}
