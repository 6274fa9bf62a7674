package device

import "github.com/ssdprobe/ssdprobe/internal/sysfs"

// BelowResolved is BelowFile without this process's own links in the path, for
// machines that are made up.
func BelowResolved(fs sysfs.FS, path string) (Below, error) {
	return NewFilesystems(fs).belowResolved(path)
}
