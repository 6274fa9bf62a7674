package nvme

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Device is an open controller. It remembers what the controller supports and what
// it refused, so keep it open for as long as the controller is read. One goroutine
// may use it at a time; only Close may be called from another one.
type Device struct {
	// Timeout of each command; see [DefaultTimeout] before shortening it. 0 means the
	// driver's own.
	Timeout time.Duration

	transport   Transport
	file        io.Closer // nil when the transport is the caller's
	namespaceID *uint32

	controller *Controller
	logPages   *SupportedLogPages
	ocpIndex   *uint8
	refused    map[Command]*StatusError
}

// NewDevice returns the controller behind a transport, which stays the caller's to close.
func NewDevice(t Transport) *Device {
	return &Device{Timeout: DefaultTimeout, transport: t, refused: map[Command]*StatusError{}}
}

// Close closes what Open opened. It does not wait for a command that is stuck in the
// kernel; the descriptor goes when that command returns.
func (d *Device) Close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// NamespaceID returns the namespace whose node was opened; not ok when it was a
// controller's.
func (d *Device) NamespaceID() (id uint32, ok bool) {
	if d.namespaceID == nil {
		return 0, false
	}
	return *d.namespaceID, true
}

// Controller asks the controller who it is and what it supports. It is asked anew
// each time; when its firmware has changed, what the Device knew of it is forgotten.
func (d *Device) Controller() (Controller, error) {
	data, err := d.read(IdentifyCommand(IdentifyController, 0), identifyBytes)
	if err != nil {
		return Controller{}, err
	}
	c, err := DecodeController(data)
	if err != nil {
		return Controller{}, err
	}
	if d.controller != nil && d.controller.FirmwareRevision != c.FirmwareRevision {
		d.logPages, d.ocpIndex = nil, nil
		clear(d.refused)
	}
	d.controller = &c
	return c, nil
}

// supports returns what the controller supports, asking it the first time only.
func (d *Device) supports() (*Controller, error) {
	if d.controller == nil {
		if _, err := d.Controller(); err != nil {
			return nil, err
		}
	}
	return d.controller, nil
}

// read sends a command that returns data.
func (d *Device) read(cmd Command, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := d.send(cmd, data)
	return data, err
}

// send sends a command, unless the controller refused it before for good.
func (d *Device) send(cmd Command, data []byte) (result uint64, err error) {
	return d.sendWithin(cmd, data, d.Timeout)
}

// sendWithin is send with another timeout than that of the device.
func (d *Device) sendWithin(cmd Command, data []byte, timeout time.Duration) (result uint64, err error) {
	if known, ok := d.refused[cmd]; ok {
		return 0, known
	}
	timed := cmd
	timed.Timeout = timeout
	completion, err := d.transport.Admin(timed, data)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", cmd, err)
	}
	if completion.Status != 0 {
		refusal := &StatusError{Command: cmd, Status: completion.Status}
		if refusal.final() {
			d.refused[cmd] = &StatusError{Command: cmd, Status: completion.Status, Remembered: true}
		}
		return 0, refusal
	}
	return completion.Result, nil
}

// unsupported is what the controller does not have, found out without asking for it.
func unsupported(what string) error {
	return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
}
