// Package safety decides whether a raw device may be overwritten, and whether a file may
// be written to without filling its filesystem.
//
// It owns the checks: the serial that the user typed, mounts of the device and its
// partitions, swap, holders, loop devices, what the kernel exports to other machines,
// other processes, partitions, signatures of filesystems, volumes and partition tables,
// and data of no known format. docs/security.md lists what these checks find and what
// they cannot find; each check has a file here. Only Permit returns a Permission, so that
// code that plans writes cannot do without it. In doubt it refuses: anything that it
// cannot check, or that does not answer, is a reason not to write. It opens devices for
// reading only and changes nothing, except for Claim.Format, which has the controller of
// a claimed device erase it.
//
//	permission, err := safety.Permit(ctx, fs, "/dev/nvme0n1", device, "S6XYNG0T123456")
//	if err != nil { … } // a *safety.RefusedError names everything that was found
//	claim, err := permission.Claim(ctx) // checks again, and keeps others away
//	defer claim.Close()
package safety
