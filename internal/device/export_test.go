package device

import "github.com/ssdprobe/ssdprobe/internal/sysfs"

// BelowResolved is like BelowFile, but does not follow this process's own links in the path, for made-up machines.
func BelowResolved(fs sysfs.FS, path string) (Below, error) {
	return NewFilesystems(fs).belowResolved(path)
}
