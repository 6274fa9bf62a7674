package nvme

import (
	"fmt"
	"time"
)

// Opcode selects an admin command (Figure 142). Its two lowest bits give the direction
// of the data transfer.
type Opcode uint8

// The admin commands of this package.
const (
	OpcodeGetLogPage  Opcode = 0x02
	OpcodeIdentify    Opcode = 0x06
	OpcodeSetFeatures Opcode = 0x09
	OpcodeGetFeatures Opcode = 0x0A
	OpcodeFormatNVM   Opcode = 0x80
)

// String names the command.
func (o Opcode) String() string {
	switch o {
	case OpcodeGetLogPage:
		return "get log page"
	case OpcodeIdentify:
		return "identify"
	case OpcodeSetFeatures:
		return "set features"
	case OpcodeGetFeatures:
		return "get features"
	case OpcodeFormatNVM:
		return "format nvm"
	}
	return fmt.Sprintf("admin command %02xh", uint8(o))
}

// Command is one admin command without its buffer: the dwords of a submission
// queue entry that this package uses; the others are zero. Commands are comparable.
//
// A timeout shorter than the driver's own is dangerous: when an admin command of a PCIe
// drive expires, the driver resets the controller, and with it all I/O in flight. A drive
// may take seconds to answer during a firmware activation or garbage collection. A caller
// that cannot wait that long should stop waiting, not let the command expire.
type Command struct {
	Opcode      Opcode
	NamespaceID uint32
	Dword10     uint32
	Dword11     uint32
	Dword14     uint32
	// Timeout is rounded up to milliseconds; 0 means the driver's own timeout: one minute,
	// unless the parameter admin_timeout of the module nvme_core says otherwise.
	Timeout time.Duration
}

// String names the command and what it asks for: "get log page 02h".
func (c Command) String() string {
	s := c.Opcode.String()
	if c.Opcode != OpcodeFormatNVM { // the others select something by this byte
		s += fmt.Sprintf(" %02xh", uint8(c.Dword10))
	}
	if identifier := c.Dword11 >> 16; c.Opcode == OpcodeGetLogPage && identifier != 0 {
		s += fmt.Sprintf(", identifier %d", identifier)
	}
	if c.NamespaceID != 0 && c.NamespaceID != AllNamespaces {
		s += fmt.Sprintf(" of namespace %d", c.NamespaceID)
	}
	return s
}

// asks reports whether the command changes nothing.
func (c Command) asks() bool {
	return c.Opcode == OpcodeIdentify || c.Opcode == OpcodeGetLogPage || c.Opcode == OpcodeGetFeatures
}

// AllNamespaces is the namespace id that addresses the controller and all its namespaces.
const AllNamespaces uint32 = 0xFFFFFFFF

// Completion is a controller's answer.
type Completion struct {
	// Status is 0 when the command succeeded.
	Status Status
	// Result holds dwords 0 and 1 of the completion; dword 0 is the lower half.
	Result uint64
}

// Transport carries admin commands to one controller.
//
// Admin sends cmd and waits for its completion. The command's data is read into data,
// whose length is a multiple of 4; data is nil for a command without data. Admin
// returns an error only if there was no completion. A command that the controller
// refused has a completion, with the status of the refusal.
type Transport interface {
	Admin(cmd Command, data []byte) (Completion, error)
}
