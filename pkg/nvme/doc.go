// Package nvme reads the identity, health and features of NVMe drives through
// the admin commands of the Linux NVMe driver. When told to, it changes two features
// and formats a namespace; the types that do are apart from the one that reads.
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
//	fmt.Println(smart.PercentageUsed, smart.DataUnitsWritten.Bytes())
//
// It owns the wire format, the translation of statuses and errnos into errors,
// and the rule that a drive is asked only for what it says it supports: a command
// that a drive refuses adds an entry to the drive's error log, and monitoring that
// fills the log of a healthy drive raises alarms of its own. What a drive does not
// have is [errors.ErrUnsupported] or a nil pointer, never a zero. Temperatures are
// degrees Celsius, sizes are bytes, times have a unit.
//
// It refuses commands that touch user data, but for Format NVM of one namespace by a
// [Formatter]: it has no Sanitize, firmware download or namespace management, and no vendor specific command and log page but the
// OCP SMART log. It sends nothing again that a controller refused for good. It
// reads neither sysfs nor a list of devices: the caller knows the node.
//
// # Specification
//
// Figures are those of the NVM Express Base Specification, revision 2.2, unless said
// otherwise; they are numbered anew in each revision. The log page, feature and CNS
// numbers beside them never change.
//
// # Blocking
//
// A command blocks its thread in the kernel, out of reach of any context, until
// the controller answers or the driver gives it up after the command's timeout
// (see [DefaultTimeout]). Callers that must not wait call from a goroutine of
// their own and stop waiting for it. One Device serves one goroutine at a time;
// several of one controller are independent of each other.
package nvme
