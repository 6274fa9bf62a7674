// Package nvme reads the identity, health and features of NVMe drives through
// the admin commands of the Linux NVMe driver, and changes two features when
// told to.
//
// It owns the wire format (every decoder names the specification's revision and
// figure), the translation of statuses and errnos into errors, and the rule that
// a drive is asked only for what it says it supports: a command that a drive
// refuses adds an entry to the drive's error log, and monitoring that fills the
// log of a healthy drive raises alarms of its own.
//
// It refuses to send anything to what is not an NVMe device, sends no command
// that touches user data, and never repeats a command the controller has
// refused. What a drive does not have is [errors.ErrUnsupported] or a nil pointer,
// never a zero. Temperatures are degrees Celsius, capacities bytes.
//
// Figures are those of the NVM Express Base Specification revision 2.1, where
// not said otherwise.
//
//	c, err := nvme.Open("/dev/nvme0")
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	smart, err := c.Smart()
//	if err != nil {
//		return err // errors.Is(err, fs.ErrPermission): CAP_SYS_ADMIN is missing
//	}
//	fmt.Println(smart.PercentageUsed, smart.DataUnitsWritten.Bytes())
package nvme
