package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// Target converts a subject to a target of suites before any of it is opened: a file is
// assumed to have the wanted size. What the machine does not say about the device's
// attachment is left out.
func Target(fs sysfs.FS, s measure.Subject) (suite.Target, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return suite.Target{}, fmt.Errorf("ask which CPUs this process may use: %w", err)
	}
	return targetOn(fs, s, allowed.IsSet)
}

// targetOn is Target for a process that may only use some CPUs.
func targetOn(fs sysfs.FS, s measure.Subject, may func(cpu int) bool) (suite.Target, error) {
	t := suite.Target{
		Path: s.Path, ID: s.ID, Raw: !s.File, SizeBytes: s.SizeBytes, Device: s.Device, Conditions: s.Conditions,
		Group: pcieRoot(fs, s.Device),
	}
	if s.File {
		path, err := target.Locate(s.Path)
		if err != nil {
			return suite.Target{}, err
		}
		t.Path = path
		t.OffsetBytes, t.SizeBytes = target.DataOf(s.FileBytes)
		if info, err := os.Stat(s.Path); err == nil && info.Mode().IsRegular() { // a file that is named itself is used as it is
			t.OffsetBytes, t.SizeBytes = 0, info.Size()
		}
	}
	names, err := counters.InterruptNames(fs, s.Device)
	if err == nil { // one figure less is no reason to fail a run
		t.Controllers = names
	}
	if depth, err := fs.Int(path.Join(sysBlock(s.Device), "device/queue_depth")); err == nil { // SCSI
		t.QueueDepth = int(depth)
	}
	if queue, err := device.QueueOf(fs, s.Device); err == nil { // otherwise it remains unknown
		t.Queue = queue
	}
	node := s.Device.NUMANode
	if s.Device.Name == "" {
		node = -1
	}
	if err := bindTo(fs, &t, node, may); err != nil {
		return suite.Target{}, err
	}
	return t, nil
}

func sysBlock(d record.Device) string {
	return path.Join("/sys/block", sysfs.DirName(d.Name))
}

// bindTo sets the CPUs of a NUMA node that this process may use. On a machine that does
// not list its CPUs, jobs are not bound.
func bindTo(fs sysfs.FS, t *suite.Target, node int, may func(cpu int) bool) error {
	set, err := device.CPUs(fs, node)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	t.CPUs = usable(set, may)
	nodes, err := device.Nodes(fs)
	if err != nil {
		return err
	}
	if node >= 0 && len(nodes) > 1 {
		t.MemoryNode = &node
	}
	for _, own := range []bool{true, false} { // the device's own node first
		for _, n := range nodes {
			if n.CPUSet = usable(n.CPUSet, may); len(n.CPUs) > 0 && (n.Node == node) == own {
				t.Nodes = append(t.Nodes, n)
			}
		}
	}
	if len(t.CPUs.CPUs) == 0 { // none of the node: use any CPU
		return nil
	}
	t.Core, err = oneCore(fs, t.CPUs)
	return err
}

// usable returns the CPUs of set that may be used.
func usable(set device.CPUSet, may func(int) bool) device.CPUSet {
	var left device.CPUSet
	for i, cpu := range set.CPUs {
		if !may(cpu) {
			continue
		}
		left.CPUs = append(left.CPUs, cpu)
		if i < set.Cores {
			left.Cores++
		}
	}
	if left.Cores == 0 { // only second threads of cores: count each as a core
		left.Cores = len(left.CPUs)
	}
	return left
}

// oneCore returns the hardware threads of one physical core. It avoids the core of CPU
// 0 if there is another, because interrupts and housekeeping tend to run there.
func oneCore(fs sysfs.FS, set device.CPUSet) ([]int, error) {
	first := set.CPUs[0]
	if first == 0 && set.Cores > 1 {
		first = set.CPUs[1]
	}
	core := []int{first}
	siblings, err := device.Siblings(fs, first)
	if err != nil {
		return nil, err
	}
	for _, cpu := range siblings {
		if cpu != first && slices.Contains(set.CPUs, cpu) {
			core = append(core, cpu)
		}
	}
	return core, nil
}

// pcieRoot returns the name of the PCIe root above a device, "pci0000:40"; empty if the
// device is not on PCIe.
func pcieRoot(fs sysfs.FS, d record.Device) string {
	if d.Name == "" {
		return ""
	}
	dir, err := fs.Resolve(sysBlock(d))
	if err != nil {
		return ""
	}
	return regexp.MustCompile(`pci[0-9a-f]{4,}:[0-9a-f]{2}`).FindString(dir)
}

// ByRoot sorts targets in the order in which a suite adds them: by NUMA node and PCIe
// root, so that one root is complete before the next begins, then by address and name.
func ByRoot(targets []suite.Target) []suite.Target {
	return slices.SortedStableFunc(slices.Values(targets), func(a, b suite.Target) int {
		return cmp.Or(
			cmp.Compare(a.Device.NUMANode, b.Device.NUMANode),
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Device.PCIAddress, b.Device.PCIAddress),
			cmp.Compare(len(a.Path), len(b.Path)), // nvme9n1 before nvme10n1
			cmp.Compare(a.Path, b.Path),
		)
	})
}
