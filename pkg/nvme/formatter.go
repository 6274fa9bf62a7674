package nvme

import (
	"fmt"
	"time"
)

// Formatter erases namespaces. It is apart from [Device] so that code that only reads
// cannot erase by mistake, and from [FeatureWriter] for the same reason. What it erases is
// lost for ever: its callers have to know what is on the drive, and that nobody uses it.
type Formatter struct{ device *Device }

// NewFormatter returns a formatter for the namespaces of d.
func NewFormatter(d *Device) *Formatter { return &Formatter{device: d} }

// eraseUserData is what Format NVM does beyond formatting, SES (Figure 190): it erases
// all user data, wherever it lies on the drive.
const eraseUserData = 1

// FormatCommand returns the command that formats a namespace and erases its user data,
// and leaves its LBA format, its metadata and its protection as n says they are: Format
// NVM, dword 10 (Figure 190), with the fields that the NVM Command Set Specification adds.
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
// protection stay as they are. It returns when the controller has done so, which takes
// seconds on some drives and hours on others, and nothing ends it before but the timeout.
// Then the driver resets the controller, and what is on the drive is not known.
//
// Of a controller with [Controller.FormatsAll] or [Controller.ErasesAll], the command
// reaches further than its namespace: ask before. A controller without the
// command is [errors.ErrUnsupported].
func (f *Formatter) Format(namespaceID uint32, timeout time.Duration) error {
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

// layout is what Format leaves as it is, in words.
func (n Namespace) layout() string {
	return fmt.Sprintf("%d blocks of %d + %d bytes (format %d, metadata inline %t, protection type %d)",
		n.SizeBlocks, n.Format.DataBytes, n.Format.MetadataBytes, n.FormatIndex, n.MetadataInline, n.Protection.Type)
}
