package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// DeviceRow is a device of this machine and how ssdprobe treats it.
type DeviceRow struct {
	Device     record.Device     `json:"device"`
	Conditions record.Conditions `json:"conditions"`
	Watched    bool              `json:"watched"`
	// Reason says why a device is not watched, or how it is. It may be empty when the device is watched.
	Reason string `json:"reason,omitempty"`
	// Findings are about the device and the targets on it, the worst first.
	Findings []finding.Finding `json:"findings,omitempty"`
	// Interrupts are the interrupts of its controllers by queue; empty unless requested.
	Interrupts []ControllerInterrupts `json:"interrupts,omitempty"`
}

// ControllerInterrupts are the interrupts of each queue of a controller since boot.
type ControllerInterrupts struct {
	Controller string `json:"controller"` // "nvme0", "virtio1"
	// NUMANode is the node to which the controller is attached, -1 when the machine does not say.
	NUMANode int `json:"numa_node"`
	record.Interrupts
}

// DeviceList is the JSON form of what Devices writes.
type DeviceList struct {
	// Findings are those that concern none of Devices, mostly those of the node.
	Findings []finding.Finding `json:"findings"`
	Devices  []DeviceRow       `json:"devices"`
	Files    []FileRow         `json:"files"`
	// Daemon says that a running daemon reported what is watched. Otherwise it is what a daemon would watch.
	Daemon bool `json:"daemon"`
	// DaemonProblem says why a daemon did not report it, such as that it refused the password; empty when one did, or
	// when none runs.
	DaemonProblem string `json:"daemon_problem,omitempty"`
}

// FileRow is a probe file, or the directory in which one will be created.
type FileRow struct {
	ID   string `json:"id,omitempty"`
	Path string `json:"path"`
	// Device is the device below the filesystem; empty when not known.
	Device string `json:"device,omitempty"`
	// Problem says why the file cannot be probed; empty when it can.
	Problem string `json:"problem,omitempty"`
}

// Devices writes the findings of the node and of each row, and a table of devices. Each id is on one line unbroken, to be
// copied into a configuration. Unwatched devices that are files or memory have no row: see LeftOut.
func Devices(w io.Writer, list DeviceList, now time.Time) error {
	rows := list.Devices
	all := slices.Clone(list.Findings)
	for _, row := range rows {
		all = append(all, row.Findings...)
	}
	finding.Sort(all)
	blocks := findingBlocks(all, now)
	if len(rows) == 0 {
		blocks = append(blocks, document.Sentence("This machine has no block devices."))
		return text.Write(w, "devices", append(blocks, fileBlocks(list.Files)...)...)
	}
	watched, left := 0, []record.Ignored(nil)
	t := document.Table{
		Names: []string{"device", "watched", "size", "type", "model", "link", "format", "scheduler", "write cache"}, Align: "llrllllll",
	}
	for _, row := range rows {
		if row.Watched {
			watched++
		} else if ofMany(row.Device) {
			left = append(left, record.Ignored{Device: row.Device, Reason: row.Reason})
			continue
		}
		t.Add(row.cells()...).Notes = row.notes()
	}
	if len(t.Rows) > 0 {
		blocks = append(blocks, t, document.Gap{})
	}
	for _, line := range LeftOut(left) {
		blocks = append(blocks, document.Note{Label: "Not watched: ", Text: line})
	}
	blocks = append(blocks, interruptBlocks(rows)...)
	blocks = append(blocks, fileBlocks(list.Files)...)
	files := ""
	if n := len(list.Files); n > 0 {
		files = " and " + units.Plural(n, "probe file")
	}
	by := "no daemon answers; one with this configuration would watch"
	switch {
	case list.Daemon:
		by = "the daemon watches"
	case list.DaemonProblem != "":
		blocks = append(blocks, document.Note{Label: "Not from the daemon: ", Text: list.DaemonProblem})
		by = "the daemon does not say what it watches; one with this configuration would watch"
	}
	blocks = append(blocks, document.Sentence(fmt.Sprintf("%s: %s %s of them%s%s.", units.Plural(len(rows), "device"), by, units.Count(watched), files, hostText(rows))))
	return text.Write(w, "devices", blocks...)
}

// fileBlocks lists the probe files.
func fileBlocks(files []FileRow) []document.Block {
	var blocks []document.Block
	for _, f := range files {
		line := f.Path
		if f.Device != "" {
			line += ", on " + f.Device
		}
		if f.Problem != "" {
			line += ": " + f.Problem
		}
		blocks = append(blocks, document.Note{Label: "Probe file: ", Text: line})
	}
	return blocks
}

func (r DeviceRow) cells() []string {
	d, c := r.Device, r.Conditions
	watched := "no"
	if r.Watched {
		watched = "yes"
	}
	link := c.PCIeLink.String()
	if d.Link != nil {
		link = LinkText(*d.Link)
	}
	return []string{
		d.Name, watched, units.DriveSize(d.SizeBytes), typeText(d), known(d.Model), known(link),
		known(c.Format.String()), known(c.Scheduler), known(c.WriteCache),
	}
}

// notes returns the lines below a device: its identifiers, and why it is not watched.
func (r DeviceRow) notes() []document.Block {
	var notes []document.Block
	if names := named("id", r.Device.ID, "serial", r.Device.Serial, "firmware", r.Device.Firmware, "PCI address", r.Device.PCIAddress); len(names) > 0 {
		notes = append(notes, document.List("", names...))
	}
	if r.Reason != "" {
		label := "not watched: "
		if r.Watched {
			label = "note: "
		}
		notes = append(notes, document.Note{Label: label, Text: r.Reason})
	}
	if r.Device.Zoned != "" {
		notes = append(notes, document.Note{Label: "zoned: ", Text: r.Device.Zoned +
			"; reads are measured as on any drive; suites that write refuse it, because zones must be written in order"})
	}
	return notes
}

// typeText returns the kind and the transport of a device: "disk pcie".
func typeText(d record.Device) string {
	return strings.TrimSpace(string(d.Kind) + " " + d.Transport)
}

// hostText returns the conditions that all devices of a host share.
func hostText(rows []DeviceRow) string {
	var kernels, governors []string
	for _, row := range rows {
		kernels = append(kernels, row.Conditions.Kernel)
		governors = append(governors, row.Conditions.Governor)
	}
	text := ""
	if kernel := distinct(kernels); kernel != "" {
		text += "; kernel " + kernel
	}
	if governor := distinct(governors); governor != "" {
		text += "; CPU governor " + governor
	}
	return text
}

// distinct joins the different known values in alphabetical order.
func distinct(values []string) string {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	return strings.Join(values, " and ")
}

func known(s string) string { return cmp.Or(s, none) }
