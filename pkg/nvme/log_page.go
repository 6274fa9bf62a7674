package nvme

import (
	"errors"
	"fmt"
)

// LogPage selects what Get Log Page returns, LID (Figure 203).
type LogPage uint8

// The log pages of this package.
const (
	LogSupportedPages      LogPage = 0x00
	LogErrorInformation    LogPage = 0x01
	LogSMART               LogPage = 0x02
	LogFirmwareSlots       LogPage = 0x03
	LogSelfTests           LogPage = 0x06
	LogHostTelemetry       LogPage = 0x07
	LogControllerTelemetry LogPage = 0x08
	LogEnduranceGroup      LogPage = 0x09
	LogOCPSMART            LogPage = 0xC0
)

// String names the log page.
func (l LogPage) String() string {
	switch l {
	case LogSupportedPages:
		return "supported log pages log"
	case LogErrorInformation:
		return "error information log"
	case LogSMART:
		return "smart log"
	case LogFirmwareSlots:
		return "firmware slot log"
	case LogSelfTests:
		return "self-test log"
	case LogHostTelemetry:
		return "host telemetry log"
	case LogControllerTelemetry:
		return "controller telemetry log"
	case LogEnduranceGroup:
		return "endurance group log"
	case LogOCPSMART:
		return "ocp smart log"
	}
	return fmt.Sprintf("log page %02xh", uint8(l))
}

// LogPageRequest holds the fields of a Get Log Page command.
type LogPageRequest struct {
	Page LogPage
	// Bytes is the number of bytes to read, a multiple of 4 and at least 4.
	Bytes int
	// Identifier selects what the page is about, such as an endurance group (LSI).
	Identifier uint16
	// UUIDIndex says which organisation defines the vendor specific page; 0 means the drive's vendor.
	UUIDIndex uint8
	// RetainEvents keeps what the controller saved with its event, such as its own telemetry (RAE, from
	// revision 1.3 on). Set it for such pages only: some drives answer the SMART log with zeros then.
	RetainEvents bool
}

// LogPageCommand returns the command for a request. It is addressed to the
// controller and not to a namespace. It panics for a number of bytes that is not
// possible, because the controller would write beyond the buffer.
func LogPageCommand(r LogPageRequest) Command {
	if r.Bytes < 4 || r.Bytes%4 != 0 {
		panic(fmt.Sprintf("nvme: %v of %d bytes: want a multiple of 4, at least 4", r.Page, r.Bytes))
	}
	dwords := uint32(r.Bytes/4 - 1)
	cmd := Command{
		Opcode:      OpcodeGetLogPage,
		NamespaceID: AllNamespaces,
		Dword10:     uint32(r.Page) | dwords<<16,
		Dword11:     dwords>>16 | uint32(r.Identifier)<<16,
		Dword14:     uint32(r.UUIDIndex & 0x7F),
	}
	if r.RetainEvents {
		cmd.Dword10 |= 1 << 15
	}
	return cmd
}

// log reads a log page that the controller supports.
func (d *Device) log(r LogPageRequest) ([]byte, error) {
	ok, err := d.supportsLog(r.Page)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, unsupported(r.Page.String())
	}
	return d.readLog(r)
}

func (d *Device) readLog(r LogPageRequest) ([]byte, error) {
	return d.read(LogPageCommand(r), r.Bytes)
}

// supportsLog consults the controller's list of log pages. If the controller has no
// such list, it relies on Identify Controller.
func (d *Device) supportsLog(page LogPage) (bool, error) {
	c, err := d.supports()
	if err != nil {
		return false, err
	}
	if c.LogPages.Has(LogPagesSupported) {
		if d.logPages == nil {
			_, err = d.SupportedLogPages()
		}
		// If the controller refuses the list that it claims to have, or the list does not even have itself, the rules below apply.
		switch refusal := (*StatusError)(nil); {
		case errors.As(err, &refusal):
		case err != nil:
			return false, err
		case d.logPages.Has(LogSupportedPages):
			return d.logPages.Has(page), nil
		}
	}
	switch page {
	case LogErrorInformation, LogSMART, LogFirmwareSlots:
		return c.Type != ControllerTypeDiscovery, nil // mandatory
	case LogSelfTests:
		return c.AdminCommands.Has(AdminCommandDeviceSelfTest), nil
	case LogHostTelemetry, LogControllerTelemetry:
		return c.LogPages.Has(LogPagesTelemetry), nil
	case LogEnduranceGroup:
		return c.Attributes.Has(AttributeEnduranceGroups), nil
	default: // only the list can tell
		return false, nil
	}
}
