package sysfs

import "strings"

// DirName returns the name that a device has in sysfs, where a name cannot hold a
// slash: cciss!c0d0 is /dev/cciss/c0d0.
func DirName(device string) string { return strings.ReplaceAll(device, "/", "!") }

// DeviceName is the inverse of DirName: the name below /dev and in /proc/diskstats.
func DeviceName(dir string) string { return strings.ReplaceAll(dir, "!", "/") }
