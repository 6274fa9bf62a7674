package device

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Find returns the device that a person means: by its node (/dev/nvme0n1) or a link to
// that (/dev/disk/by-id/…, /dev/mapper/…), its kernel name, its number ("259:0"), its
// stable identity or one of its by-id names.
//
// The error matches os.ErrNotExist when no device has that name, and ErrAmbiguousID when
// another device claims the same identity. For a partition, the error names its disk.
func Find(fs sysfs.FS, nameOrPath string) (record.Device, error) {
	return NewScanner(fs).Find(nameOrPath)
}

// Find is like the function Find, for a machine that is scanned again and again.
func (s *Scanner) Find(nameOrPath string) (record.Device, error) {
	all, err := s.scan()
	if err != nil {
		return record.Device{}, err
	}
	name := nameOrPath
	if path.IsAbs(nameOrPath) {
		name = nodeAt(s.fs, path.Clean(nameOrPath))
	}
	i := slices.IndexFunc(all, func(f found) bool { return f.called(name) })
	switch {
	case i >= 0 && all[i].unknown:
		return record.Device{}, fmt.Errorf("find device %s: %w", nameOrPath, all[i].err)
	case i >= 0:
		if claimants := claims(all)[all[i].ID]; len(claimants) > 1 {
			if of := multipath(all, claimants); of != "" {
				return record.Device{}, fmt.Errorf("find device %s: %w: it is one of %d paths of %s to the same drive: name that",
					nameOrPath, ErrAmbiguousID, len(claimants), of)
			}
			return record.Device{}, fmt.Errorf("find device %s: %w", nameOrPath, &AmbiguousIDError{ID: all[i].ID, Devices: claimants})
		}
		return all[i].Device, nil
	}
	var names []string
	kin := strings.TrimRight(name, "0123456789")
	for _, f := range all {
		if slices.Contains(f.Children, name) {
			return record.Device{}, fmt.Errorf("find device %s: it is a partition of %s: name the disk", nameOrPath, f.Name)
		}
		made := f.Kind == record.KindLoop || f.Kind == record.KindRAM || f.Kind == record.KindZRAM
		if !made || kin != "" && strings.HasPrefix(f.Name, kin) && !f.Empty() { // a host may have hundreds of those
			names = append(names, f.Name)
		}
	}
	return record.Device{}, &unknownError{nameOrPath, names}
}

// unknownError says that no device has the name. It matches os.ErrNotExist.
type unknownError struct {
	name string
	here []string
}

func (e *unknownError) Error() string {
	if len(e.here) == 0 {
		return fmt.Sprintf("find device %s: no device has that name", e.name)
	}
	return fmt.Sprintf("find device %s: no device has that name; here are: %s", e.name, strings.Join(e.here, ", "))
}

func (*unknownError) Is(target error) bool { return target == os.ErrNotExist }

// called reports whether a name is one of the device's.
func (f found) called(name string) bool {
	return name != "" && (name == f.Name || name == f.Number || name == f.ID || slices.Contains(f.ByID, name))
}

// nodeAt returns the name below /dev of the node that a path leads to. In a container
// the node itself may not exist.
func nodeAt(fs sysfs.FS, name string) string {
	if resolved, err := fs.Resolve(name); err == nil {
		name = resolved
	} else if target, err := fs.Link(name); err == nil {
		name = target
	}
	node, ok := strings.CutPrefix(name, "/dev/")
	if !ok {
		return ""
	}
	return node
}
