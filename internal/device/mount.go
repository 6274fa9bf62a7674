package device

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// MountPoint returns the mount point of the filesystem that path is or would be on, as
// this process sees it. The path need not exist yet.
func (f *Filesystems) MountPoint(path string) (string, error) {
	resolved, err := follow(path)
	if err != nil {
		return "", fmt.Errorf("find the mount of %s: %w", path, err)
	}
	mount, err := f.mountOf(resolved)
	return mount.Mountpoint, err
}

// mountOf returns the mount that a path is on: path is absolute, clean and free
// of symbolic links.
func (f *Filesystems) mountOf(path string) (mountinfo.Info, error) {
	mounts, err := f.mounts()
	if err != nil {
		return mountinfo.Info{}, fmt.Errorf("read mounts: %w", err)
	}
	m, ok := walk(mounts, path)
	if !ok {
		return mountinfo.Info{}, fmt.Errorf("find the mount of %s: none contains it", path)
	}
	return m, nil
}

func readMounts(fs sysfs.FS) ([]*mountinfo.Info, error) {
	file, err := fs.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	mounts, err := mountinfo.GetMountsFromReader(file, nil)
	return mounts, errors.Join(err, file.Close())
}

// walk follows the path from mount to mount, as the kernel does. The longest mount
// point alone is not enough: a mount may hide others that were there before it.
func walk(mounts []*mountinfo.Info, path string) (mountinfo.Info, bool) {
	at, ok := top(mounts, path)
	if !ok {
		return mountinfo.Info{}, false
	}
	for range mounts { // at most one step per mount, even if the parents form a cycle
		var next *mountinfo.Info
		for _, m := range mounts {
			below := m.Parent == at.ID && m.ID != at.ID && Inside(m.Mountpoint, path) && Inside(at.Mountpoint, m.Mountpoint)
			if below && (next == nil || len(m.Mountpoint) <= len(next.Mountpoint)) {
				next = m
			}
		}
		if next == nil {
			break
		}
		at = *next
	}
	return at, true
}

// top returns the mount to begin with. Of the mounts whose parent this process does not
// see, it is the one with the longest mount point, and of several the last one mounted.
func top(mounts []*mountinfo.Info, path string) (mountinfo.Info, bool) {
	var best *mountinfo.Info
	for _, m := range mounts {
		orphan := m.Parent == m.ID || !slices.ContainsFunc(mounts, func(o *mountinfo.Info) bool { return o.ID == m.Parent })
		if orphan && Inside(m.Mountpoint, path) && (best == nil || len(m.Mountpoint) >= len(best.Mountpoint)) {
			best = m
		}
	}
	if best == nil {
		return mountinfo.Info{}, false
	}
	return *best, true
}

// Inside reports whether path is the directory dir or below it. Both are absolute and clean.
func Inside(dir, path string) bool {
	if dir == "/" || dir == path {
		return strings.HasPrefix(path, "/")
	}
	return strings.HasPrefix(path, dir+"/")
}

// mountOptions returns the options of a mount and of its filesystem, each once.
func mountOptions(m mountinfo.Info) string {
	var options []string
	for option := range strings.SplitSeq(m.Options+","+m.VFSOptions, ",") {
		if option != "" && !slices.Contains(options, option) {
			options = append(options, option)
		}
	}
	return strings.Join(options, ",")
}
