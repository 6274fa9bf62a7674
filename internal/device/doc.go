// Package device finds the block devices of a machine and says what they are: their
// identity, how they are attached, what they are made of, and the conditions under
// which they work.
//
// It owns what the files of /sys and /proc mean for a block device. It opens no device
// and runs no tool, so it needs no privileges. It does not guess. Devices that claim the
// same identity are an error that names them (ErrAmbiguousID). What a machine does not
// report stays empty. A file whose filesystem does not name one device has no device.
//
//	fs := sysfs.New("/")
//	devices, err := device.Scan(fs)
//	for _, d := range devices {
//		conditions, warnings, err := device.Conditions(fs, d)
//		…
//	}
package device
