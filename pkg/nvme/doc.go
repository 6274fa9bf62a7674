// Package nvme reads the identity, health and features of NVMe drives through the admin
// commands of the Linux NVMe driver. It can also change two features and format a
// namespace. The types for that are separate from the one that reads.
//
//	d, err := nvme.Open("/dev/nvme0")
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	smart, err := d.SMART()
//	if err != nil {
//		return err // errors.Is(err, fs.ErrPermission): CAP_SYS_ADMIN is missing
//	}
//	fmt.Println(smart.PercentageUsed, smart.PowerOnHours)
//
// It owns the binary formats, the translation of statuses and errnos into errors, and the rule
// that a drive is asked only for what it says it supports. A refused command adds an entry to
// the drive's error log, and monitoring that fills the log of a healthy drive raises alarms of
// its own. Something that a drive does not have is [errors.ErrUnsupported] or a nil pointer,
// never a zero. Temperatures are in degrees Celsius, sizes in bytes; times have a unit.
// Structures survive a round trip through JSON.
//
// It does not send commands that touch user data, except Format NVM of one namespace by a
// [Formatter]. It has no Sanitize, firmware download or namespace management, and of the vendor
// specific commands and log pages only the OCP SMART log. It does not ask again for what a
// controller refused for good. It reads neither sysfs nor a list of devices: the caller knows
// the device node.
//
// [Open] and [OnFile] exist on Linux only. Elsewhere the package decodes structures, and sends
// commands through a [Transport] of the caller by [NewDevice].
//
// # Specification
//
// Figures are those of the NVM Express Base Specification, revision 2.2, unless said otherwise;
// each revision renumbers them. The log page, feature and CNS numbers beside them never change.
//
// # Blocking
//
// A command blocks its thread in the kernel, out of reach of any context, until the controller
// answers or the driver gives the command up after its timeout (see [Command]). Callers
// that must not wait should call from a goroutine of their own and stop waiting for it. A Device
// serves one goroutine at a time. Several Devices of one controller are independent of each other.
package nvme
