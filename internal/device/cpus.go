package device

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// maxCPU bounds the CPU numbers that are accepted, so that a wrong list cannot fill the
// memory. It is far above the 8192 CPUs that the kernel can be built for.
const maxCPU = 1 << 16

// CPUSet holds the online CPUs of a NUMA node.
type CPUSet struct {
	// CPUs are the numbers of the CPUs: first one of each physical core, in
	// order, then the second hardware thread of each, and so on.
	CPUs []int
	// Cores is the number of physical cores. No two of CPUs[:Cores] share one.
	Cores int
}

// CPUs returns the online CPUs of a NUMA node. A negative node, as that of a device
// that is attached to none, means the whole machine. CPUs does not check whether this
// process may run on them (see sched_getaffinity(2)). The error matches os.ErrNotExist
// when there is no such node.
func CPUs(fs sysfs.FS, node int) (CPUSet, error) {
	file := "/sys/devices/system/cpu/online"
	if node >= 0 {
		file = fmt.Sprintf("/sys/devices/system/node/node%d/cpulist", node)
	}
	online, err := readCPUList(fs, file)
	if err != nil {
		return CPUSet{}, fmt.Errorf("list the CPUs of NUMA node %d: %w", node, err)
	}
	ranks := map[int]int{} // of each CPU: how many threads of its core come before it
	set := CPUSet{CPUs: online}
	for _, cpu := range online {
		siblings, err := readCPUList(fs, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if errors.Is(err, os.ErrNotExist) {
			siblings = []int{cpu} // the kernel does not report it: each counts as a core of its own
		} else if err != nil {
			return CPUSet{}, fmt.Errorf("read the topology of CPU %d: %w", cpu, err)
		}
		for _, sibling := range siblings {
			if sibling < cpu && slices.Contains(online, sibling) {
				ranks[cpu]++
			}
		}
		if ranks[cpu] == 0 {
			set.Cores++
		}
	}
	slices.SortStableFunc(set.CPUs, func(x, y int) int { return ranks[x] - ranks[y] })
	return set, nil
}

// NodeCPUs are the online CPUs of one NUMA node.
type NodeCPUs struct {
	Node int // -1 on a machine without nodes
	CPUSet
}

// Nodes returns the online CPUs of every NUMA node that has some, ordered by node. The
// error matches os.ErrNotExist when the machine does not list its CPUs.
func Nodes(fs sysfs.FS) ([]NodeCPUs, error) {
	numbers, err := readCPUList(fs, "/sys/devices/system/node/online")
	if errors.Is(err, os.ErrNotExist) {
		numbers = []int{-1} // a kernel without CONFIG_NUMA
	} else if err != nil {
		return nil, fmt.Errorf("list the NUMA nodes: %w", err)
	}
	var all []NodeCPUs
	for _, n := range numbers {
		set, err := CPUs(fs, n)
		if err != nil {
			return nil, err
		}
		if len(set.CPUs) > 0 { // a node may have only memory
			all = append(all, NodeCPUs{n, set})
		}
	}
	return all, nil
}

func readCPUList(fs sysfs.FS, file string) ([]int, error) {
	text, err := fs.Text(file)
	if err != nil {
		return nil, err
	}
	cpus, err := parseCPUList(text)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	return cpus, nil
}

// parseCPUList parses "0-3,8,10-11", the kernel's notation for a set of numbers. A node
// without CPUs has an empty list. The numbers are returned in order, without duplicates.
func parseCPUList(text string) ([]int, error) {
	var cpus []int
	if text == "" {
		return cpus, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 32)
		if err != nil {
			return nil, err
		}
		last := first
		if isRange {
			if last, err = strconv.ParseUint(to, 10, 32); err != nil {
				return nil, err
			}
		}
		if last < first || last > maxCPU {
			return nil, fmt.Errorf("%q is no range of CPUs", part)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}
