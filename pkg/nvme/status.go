package nvme

import (
	"errors"
	"fmt"
	"io/fs"
)

// Status is how a controller completed a command, 0 for success: the status field
// of a completion queue entry without the phase tag (Figure 100).
type Status uint16

// StatusType is the class of a status code (Figure 101).
type StatusType uint8

// The classes of status codes.
const (
	StatusGeneric         StatusType = 0
	StatusCommandSpecific StatusType = 1
	StatusMediaError      StatusType = 2
	StatusPathError       StatusType = 3
	StatusVendorSpecific  StatusType = 7
)

// Type returns the class that gives the code its meaning.
func (s Status) Type() StatusType { return StatusType(s >> 8 & 0x7) }

// Code returns the status code within its class.
func (s Status) Code() uint8 { return uint8(s) }

// More reports whether the error log page holds more information about this command.
func (s Status) More() bool { return s&(1<<13) != 0 }

// DoNotRetry reports whether the same command would fail again.
func (s Status) DoNotRetry() bool { return s&(1<<14) != 0 }

// Text returns the meaning of the status: "vendor specific status" for codes that a
// vendor defines, "unknown status" for other codes that this package does not know.
func (s Status) Text() string {
	if text, ok := statusText(s.code()); ok {
		return text
	}
	if s.Type() == StatusVendorSpecific || s.Code() >= 0xC0 {
		return "vendor specific status"
	}
	return "unknown status"
}

// String returns the meaning and the numbers: "invalid field in command (type 0h, code 02h, do not retry)".
func (s Status) String() string {
	var flags string
	if s.More() {
		flags += ", more in the error log"
	}
	if s.DoNotRetry() {
		flags += ", do not retry"
	}
	return fmt.Sprintf("%s (type %xh, code %02xh%s)", s.Text(), uint8(s.Type()), s.Code(), flags)
}

// code returns the status type and code without the flags.
func (s Status) code() Status { return s & 0x7FF }

// StatusError reports a command that the controller refused or could not complete.
//
// With errors.Is it matches
//
//   - [errors.ErrUnsupported] when the controller does not implement what it was
//     asked for: invalid opcode, invalid field, invalid log page, or a feature that
//     cannot be changed, saved or set for a namespace, or a structure that the
//     command set of the namespace does not have;
//   - [fs.ErrPermission] when the operation is implemented but denied;
//   - [fs.ErrNotExist] when the namespace does not exist;
//   - [ErrNotLive] and [ErrCancelled] when the status is not the controller's: the driver
//     answers so for a controller that it does not reach, or whose command it gave up.
type StatusError struct {
	Command Command
	Status  Status
	// Remembered reports that the command was not sent, because the controller had
	// refused it for good before.
	Remembered bool
}

// Error returns the command and the status.
func (e *StatusError) Error() string {
	var remembered string
	if e.Remembered {
		remembered = ", not asked again"
	}
	return fmt.Sprintf("%v: %v%s", e.Command, e.Status, remembered)
}

// Is reports whether the status matches target, as listed at [StatusError].
func (e *StatusError) Is(target error) bool {
	switch e.Status.code() {
	case invalidOpcode, invalidField, invalidLogPage, featureNotSaveable, featureNotChangeable, featureNotNamespace, invalidCommandSet:
		return target == errors.ErrUnsupported
	case operationDenied, prohibitedByLockdown, accessDenied:
		return target == fs.ErrPermission
	case invalidNamespace:
		return target == fs.ErrNotExist
	case hostPathing:
		return target == ErrNotLive
	case abortedByHost:
		return target == ErrCancelled
	default:
		return false
	}
}

// final reports whether sending the command again would only add to the error log: the controller lacks what it was
// asked for, or it says "do not retry" and the reason lies in the command. Other reasons pass, whatever the controller says.
// For example, one that ran out of memory, or is being started, says "internal error, do not retry". A namespace of another
// command set may give way to one with the same id.
func (e *StatusError) final() bool {
	switch code := e.Status.code(); {
	case code == selfTestInProgress, code == invalidCommandSet:
		return false
	case e.Is(errors.ErrUnsupported):
		return true
	case e.Is(fs.ErrPermission), code.Type() == StatusCommandSpecific, code.Type() == StatusVendorSpecific:
		return e.Status.DoNotRetry()
	}
	return false
}

// The statuses that mean something to Is and final.
const (
	invalidOpcode        Status = 0x001
	invalidField         Status = 0x002
	invalidNamespace     Status = 0x00B
	operationDenied      Status = 0x015
	prohibitedByLockdown Status = 0x023
	invalidLogPage       Status = 0x109
	featureNotSaveable   Status = 0x10D
	featureNotChangeable Status = 0x10E
	featureNotNamespace  Status = 0x10F
	selfTestInProgress   Status = 0x11D
	invalidCommandSet    Status = 0x12C
	accessDenied         Status = 0x286
	hostPathing          Status = 0x370
	abortedByHost        Status = 0x371
)
