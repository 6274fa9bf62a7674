package safety

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// mounts finds mounts of the device and its partitions, as this process sees them and as the host's first
// process sees them, which may be more.
func (s subject) mounts() ([]Finding, error) {
	var found []Finding
	for _, view := range []struct {
		fs   sysfs.FS
		file string
		own  bool
	}{{sysfs.FS{}, "/proc/self/mountinfo", true}, {s.fs, "/proc/1/mountinfo", false}} {
		list, err := readMounts(view.fs, view.file)
		if err != nil && !view.own && (errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist)) {
			continue // the exclusive open fails all the same
		} else if err != nil {
			return nil, err
		}
		for _, m := range list {
			node := s.blocks[fmt.Sprintf("%d:%d", m.Major, m.Minor)]
			// btrfs uses device numbers of its own, so the source is checked instead. Only names of devices
			// are: another source may be on a filesystem that hangs.
			if node == "" && m.Major == 0 && strings.HasPrefix(m.Source, "/dev/") {
				node, _ = s.at(m.Source) // fails if the source is not a path
			}
			f := Finding{Kind: KindMount, Text: fmt.Sprintf("%s is mounted at %s (%s)", node, m.Mountpoint, m.FSType)}
			if node != "" && !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found, nil
}

func readMounts(fs sysfs.FS, file string) ([]*mountinfo.Info, error) {
	f, err := fs.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	list, err := mountinfo.GetMountsFromReader(f, nil)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read mounts of %s: %w", file, err)
	}
	return list, nil
}

// swaps finds swap space in use. Without /proc/swaps, the kernel does not support swap.
func (s subject) swaps() ([]Finding, error) {
	f, err := s.fs.Open("/proc/swaps")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read swaps: %w", err)
	}
	defer f.Close()
	var found []Finding
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return found, lines.Err()
		}
		name, _, _ := strings.Cut(lines.Text(), " ")
		if name = unescape(name); !path.IsAbs(name) {
			continue // the heading
		}
		if node, _ := s.at(name); node != "" { // it may have another name here
			found = append(found, Finding{Kind: KindSwap, Text: fmt.Sprintf("%s is swap space in use", node)})
		}
	}
}

// unescape reverses the kernel's escaping of blanks in paths.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}
