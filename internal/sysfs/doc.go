// Package sysfs reads /sys and /proc below a given root: "/" is the machine itself, "/host"
// the machine as a container sees it, a temporary directory a machine that a test made up.
//
// It owns how those files are read: an attribute by one raw read, a long file as a
// stream, symbolic links followed inside the root. What the files mean is left to the
// packages that read them. It offers no way to write, and it never truncates an
// attribute silently: see ErrTruncated.
//
//	fs := sysfs.New("/")
//	sectors, err := fs.Uint("/sys/block/nvme0n1/size")
//	if errors.Is(err, os.ErrNotExist) { … }
package sysfs
