package device

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Conditions reads what may legitimately change the speed of a device, and returns
// warnings about it. The caller that measures sets the engine; BelowFile sets
// Filesystem and MountOptions. The error joins what could not be read; the rest is
// still returned. The error matches os.ErrNotExist if the device is gone. If a driver
// hangs, so does Conditions: see Scanner.
func Conditions(fs sysfs.FS, d record.Device) (record.Conditions, []record.Warning, error) {
	return conditions(fs, d, nil)
}

// conditions is like Conditions, and does not read devices that have been seen already.
func conditions(fs sysfs.FS, d record.Device, seen map[string]found) (record.Conditions, []record.Warning, error) {
	dir, err := fs.Resolve(path.Join(blockDir, sysfs.DirName(d.Name)))
	if err != nil {
		return record.Conditions{}, nil, fmt.Errorf("read conditions of %s: %w", d.Name, err)
	}
	a := &attributes{fs: fs, dir: dir}
	c, hostWarnings := hostConditions(a)
	c.Model, c.Firmware, c.Transport = d.Model, d.Firmware, d.Transport
	c.Format, c.Stack, c.ASPM = format(a, d), stackKey(a, d, seen), aspm(a, d)
	c.WriteCache = a.text("queue/write_cache")
	if d.Link != nil {
		c.PCIeLink = d.Link.Current()
	}
	if d.NUMANode >= 0 {
		c.NUMANode = record.NumberOf(d.NUMANode)
	}
	queue := a.queue(d)
	c.Scheduler = selected(queue.text("queue/scheduler"))
	c.NrRequests = queue.known("queue", "nr_requests")
	c.Polling = polling(queue, d)
	a.errs = append(a.errs, queue.errs...)
	if len(a.errs) > 0 {
		err = fmt.Errorf("read conditions of %s: %w", d.Name, errors.Join(a.errs...))
	}
	return c, append(warnings(d), hostWarnings...), err
}

// hostConditions reads the conditions that all devices of a machine share.
func hostConditions(a *attributes) (record.Conditions, []record.Warning) {
	governor := readGovernor(a)
	c := record.Conditions{Governor: governor.String(), Kernel: a.at("/proc/sys/kernel", "osrelease")}
	if w, ok := governor.warning(); ok {
		return c, []record.Warning{w}
	}
	return c, nil
}

// queue returns the device whose queue holds and orders the I/O. A multipath NVMe
// namespace has no queue of its own; its first path is returned.
func (a *attributes) queue(d record.Device) *attributes {
	if a.target("device/subsystem") != "nvme-subsystem" {
		return &attributes{fs: a.fs, dir: a.dir}
	}
	if dirs := pathsOf(a, d.Name); len(dirs) > 0 {
		return &attributes{fs: a.fs, dir: dirs[0]}
	}
	return &attributes{fs: a.fs, dir: a.dir}
}

// warnings describes what about the device itself makes its figures less trustworthy.
// The texts do not name the device, so that they are the same for all devices; whoever
// shows one adds the name.
func warnings(d record.Device) []record.Warning {
	var list []record.Warning
	warn := func(code, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if d.Link != nil && d.Link.BelowMaximum() {
		warn(record.WarnLinkBelowMaximum,
			"the PCIe link runs at %s although both ends can do %s", d.Link.Current(), d.Link.Max())
	}
	if !stable(d.ID) {
		warn(record.WarnIdentity,
			"no wwid, no serial number and no name of its own in /dev/disk/by-id: another drive in the same place is not noticed")
	}
	switch d.Transport {
	case "tcp", "rdma", "fc":
		warn(record.WarnRemote, "reached over a network (%s), which is measured along with the drive", d.Transport)
	default:
		if d.Kind == record.KindNetwork {
			warn(record.WarnRemote, "reached over a network, which is measured along with the drive")
		}
	}
	switch text := stackText(d); {
	case text != "":
		list = append(list, stacked(text))
	case d.Kind == record.KindLoop:
		warn(record.WarnStacked, "made of a file: what is measured is its filesystem and the device below")
	}
	return list
}

func stacked(stack string) record.Warning {
	return record.Warning{Code: record.WarnStacked, Text: stack +
		": what is measured is all of them together"}
}

// on stands between a device and what it is made of.
const on = " on "

// stackText returns "md0 (raid1) on nvme0n1, nvme1n1" for display; empty for a device
// that is not made of others.
func stackText(d record.Device) string {
	if len(d.Members) == 0 {
		return ""
	}
	return layer(d) + on + strings.Join(d.Members, ", ")
}

// layer returns "md0 (raid1)".
func layer(d record.Device) string {
	if d.Model != "" && (d.Kind == record.KindMD || d.Kind == record.KindDM) {
		return fmt.Sprintf("%s (%s)", d.Name, d.Model)
	}
	return d.Name
}

// format returns the block sizes, and the metadata and protection of each block.
func format(a *attributes, d record.Device) (f record.BlockFormat) {
	if d.LogicalBlockBytes == 0 {
		return f
	}
	f.LogicalBytes, f.PhysicalBytes = d.LogicalBlockBytes, d.PhysicalBlockBytes
	if n, ok := a.number("metadata_bytes"); ok { // NVMe, since Linux 6.8
		f.MetadataBytes = int(max(0, n))
	}
	if protection := a.text("integrity/format"); protection != "none" {
		f.Protection = protection
	}
	return f
}

// polling returns whether the kernel may poll for completions, and with how many queues.
func polling(queue *attributes, d record.Device) record.Polling {
	switch text := queue.text("queue/io_poll"); {
	case text == "":
		return record.Polling{}
	case text == "0":
		return record.Polling{Mode: record.Off}
	case d.Transport != "pcie":
		return record.Polling{Mode: record.On}
	}
	return record.Polling{Mode: record.On, Queues: queue.known("/sys/module/nvme/parameters", "poll_queues")}
}

// aspm returns which states of PCIe's active state power management are enabled on the
// link, and the policy of the kernel; nothing where there is no link.
func aspm(a *attributes, d record.Device) record.ASPM {
	if d.Link == nil {
		return record.ASPM{}
	}
	var states []string
	known := false
	for _, state := range []struct{ file, name string }{
		{"l0s_aspm", "L0s"}, {"l1_aspm", "L1"}, {"l1_1_aspm", "L1.1"}, {"l1_2_aspm", "L1.2"},
	} {
		text := a.at("/sys/bus/pci/devices/"+d.PCIAddress+"/link", state.file)
		known = known || text != ""
		if text == "1" {
			states = append(states, state.name)
		}
	}
	if known && len(states) == 0 {
		states = []string{record.Off}
	}
	return record.ASPM{States: strings.Join(states, " "), Policy: selected(a.at("/sys/module/pcie_aspm/parameters", "policy"))}
}

// selected returns the active choice, which is in brackets: "none" for "[none] mq-deadline".
// A single word counts without brackets. The result is empty if there is neither.
func selected(text string) string {
	words := strings.Fields(text)
	for _, word := range words {
		choice, opened := strings.CutPrefix(word, "[")
		choice, closed := strings.CutSuffix(choice, "]")
		if (opened && closed || len(words) == 1) && !strings.ContainsAny(choice, "[]") {
			return choice
		}
	}
	return ""
}
