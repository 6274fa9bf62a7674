package nvme

import (
	"fmt"
	"time"
)

// Formatter erases namespaces. Get one from [NewFormatter]. It is separate from [Device] and
// [FeatureWriter], so that code that uses only those cannot erase by mistake. Erased data
// cannot be recovered: callers must know what is on the drive, and that nobody uses it.
type Formatter struct{ device *Device }

// NewFormatter returns a formatter for the namespaces of d.
func NewFormatter(d *Device) *Formatter { return &Formatter{device: d} }

// eraseUserData is the secure erase setting of Format NVM, SES (Figure 190): it erases
// all user data, wherever it lies on the drive.
const eraseUserData = 1

// FormatCommand returns the Format NVM command that formats a namespace and erases its
// user data. The LBA format, metadata and protection stay as they are in n. Dword 10 is
// that of Figure 190, with the fields that the NVM Command Set Specification adds.
func FormatCommand(namespaceID uint32, n Namespace) Command {
	cmd := Command{Opcode: OpcodeFormatNVM, NamespaceID: namespaceID}
	cmd.Dword10 = uint32(n.FormatIndex&0xF) | // LBAFL
		bit(n.MetadataInline)<<4 | // MSET
		uint32(n.Protection.Type&7)<<5 | // PI
		bit(n.Protection.First)<<8 | // PIL
		eraseUserData<<9 | // SES
		uint32(n.FormatIndex>>4&3)<<12 // LBAFU
	return cmd
}

func bit(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// Format formats one namespace and erases its user data; its LBA format, metadata and
// protection stay as they are. It returns when the controller is done, which takes
// seconds on some drives and hours on others. Only the timeout, which must be positive, ends
// it earlier. Then the driver resets the controller, and the content of the drive is unknown.
//
// If the controller has [Controller.FormatsAll] or [Controller.ErasesAll], the command
// affects other namespaces too: check before calling Format. Opening a partition does not
// confine it either, see [Open]. If the controller lacks the command, the error matches
// [errors.ErrUnsupported].
func (f *Formatter) Format(namespaceID uint32, timeout time.Duration) error {
	if timeout <= 0 {
		return fmt.Errorf("format namespace %d: timeout %v: want how long the drive may take, which is hours for some", namespaceID, timeout)
	}
	c, err := f.device.Controller()
	if err != nil {
		return err
	}
	if !c.AdminCommands.Has(AdminCommandFormat) {
		return unsupported(OpcodeFormatNVM.String())
	}
	before, err := f.device.Namespace(namespaceID)
	if err != nil {
		return err
	}
	if before.Format.DataBytes == 0 {
		return fmt.Errorf("format namespace %d: its LBA format is number %d, and the controller lists %d: %w",
			namespaceID, before.FormatIndex, len(before.Formats), unsupported("an unknown format"))
	}
	if _, err := f.device.sendWithin(FormatCommand(namespaceID, before), nil, timeout); err != nil {
		return err
	}
	after, err := f.device.Namespace(namespaceID)
	if err != nil {
		return fmt.Errorf("after formatting namespace %d: %w", namespaceID, err)
	}
	if after.SizeBlocks != before.SizeBlocks || after.FormatIndex != before.FormatIndex || after.MetadataInline != before.MetadataInline ||
		after.Protection != before.Protection {
		return fmt.Errorf("format namespace %d: it was to stay %s, and is %s now", namespaceID, before.layout(), after.layout())
	}
	return nil
}

// layout describes what Format leaves unchanged.
func (n Namespace) layout() string {
	return fmt.Sprintf("%d blocks of %d + %d bytes (format %d, metadata inline %t, protection type %d, first %t)",
		n.SizeBlocks, n.Format.DataBytes, n.Format.MetadataBytes, n.FormatIndex, n.MetadataInline, n.Protection.Type, n.Protection.First)
}
