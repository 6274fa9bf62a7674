package health

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Source is what reports the health of devices: an NVMe controller, a SATA or SAS drive, or a virtio device.
type Source struct {
	Name    string // "nvme0", "sda", "virtio1"
	Kind    record.ControllerKind
	Devices []record.Device // in order of their names
	// NUMANode is the node that the source is attached to, -1 if unknown.
	NUMANode int
	// EveryQueue makes the Meter report for each queue which CPUs may take its interrupts,
	// and how many were taken on CPUs of NUMANode and on others.
	EveryQueue bool
}

// Sources returns the sources of the devices, each once, in order of their names. A device
// given twice counts once. Devices of other kinds have no source.
func Sources(fs sysfs.FS, devices []record.Device) []Source {
	sources := map[string]Source{}
	add := func(name string, kind record.ControllerKind, d record.Device) {
		s, ok := sources[name]
		if !ok {
			s = Source{Name: name, Kind: kind, NUMANode: d.NUMANode}
		}
		if !slices.ContainsFunc(s.Devices, func(other record.Device) bool { return other.ID == d.ID }) {
			s.Devices = append(s.Devices, d)
		}
		sources[name] = s
	}
	for _, d := range devices {
		for _, controller := range d.Controllers {
			add(controller, record.ControllerNVMe, d)
		}
		switch {
		case d.Kind != record.KindDisk:
		case d.Transport == "sata", d.Transport == "sas":
			add(d.Name, record.ControllerDrive, d)
		case d.Transport == "virtio":
			if parent, err := fs.Resolve("/sys/block/" + d.Name + "/device"); err == nil {
				add(path.Base(parent), record.ControllerVirtio, d)
			}
		}
	}
	list := slices.Collect(maps.Values(sources))
	for i := range list {
		list[i].place(fs)
		slices.SortFunc(list[i].Devices, func(a, b record.Device) int { return cmp.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(list, func(a, b Source) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// NamedController returns the NVMe controller with the given name, with those of the
// devices that it reaches. It returns false if there is no such controller.
func NamedController(fs sysfs.FS, name string, devices []record.Device) (Source, bool) {
	if number, ok := strings.CutPrefix(name, "nvme"); !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return Source{}, false
	}
	if _, err := fs.Resolve("/sys/class/nvme/" + name); err != nil {
		return Source{}, false
	}
	s := Source{Name: name, Kind: record.ControllerNVMe, NUMANode: -1}
	for _, d := range devices {
		if slices.Contains(d.Controllers, name) {
			s.Devices = append(s.Devices, d)
		}
	}
	if len(s.Devices) > 0 {
		s.NUMANode = s.Devices[0].NUMANode
	}
	s.place(fs)
	return s, true
}

// place corrects the NUMA node of a controller: that of a device is the node of its first path.
func (s *Source) place(fs sysfs.FS) {
	if s.Kind != record.ControllerNVMe {
		return
	}
	if node, err := fs.Int("/sys/class/nvme/" + s.Name + "/device/numa_node"); err == nil {
		s.NUMANode = int(max(-1, node))
	}
}

// IDs returns the ids of the devices.
func (s Source) IDs() []string {
	ids := make([]string, len(s.Devices))
	for i, d := range s.Devices {
		ids[i] = d.ID
	}
	return ids
}
