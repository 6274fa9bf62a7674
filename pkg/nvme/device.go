package nvme

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Device is an open controller. Get one from [Open], [OnFile] or [NewDevice]: the zero value
// is of no use. It remembers what the controller supports and what it refused. An open node
// keeps the driver's module in use and, after the controller has left, its number. So close
// the node between readings, and let the next Device [Device.Follow] the last one. One
// goroutine may use it at a time; only Close may be called from another one.
type Device struct {
	// Timeout applies to each command. 0 means the driver's own timeout; see [Command]
	// before choosing a shorter one.
	Timeout time.Duration

	transport   Transport
	file        io.Closer // nil when the transport is the caller's
	namespaceID *uint32

	*memory
	// earlier is what the Device that this one follows remembered; nil once Controller has decided about it.
	earlier *memory
}

// memory is what a Device knows of its controller, so that it does not ask again.
type memory struct {
	controller *Controller // nil while it has not identified itself
	logPages   *SupportedLogPages
	ocpIndex   *uint8
	otherOCP   error // why the page at C0h is not OCP's; nil if it is, or was never read
	refused    map[Command]*StatusError
}

func newMemory() *memory { return &memory{refused: map[Command]*StatusError{}} }

// of reports whether the memory is of this controller, with this firmware.
func (m *memory) of(c Controller) bool {
	known := m.controller
	return known != nil && known.SerialNumber == c.SerialNumber && known.ModelNumber == c.ModelNumber && known.FirmwareRevision == c.FirmwareRevision
}

// NewDevice returns the controller behind a transport. The caller still closes the transport.
func NewDevice(t Transport) *Device {
	return &Device{transport: t, memory: newMemory()}
}

// Follow makes d go on with what an earlier Device of the same node remembers. It has an
// effect once [Device.Controller] has found the same controller with the same firmware:
// another one may have taken the node's name. Call it before the first command, and do
// not use the earlier Device any more, except to close it.
func (d *Device) Follow(before *Device) {
	d.earlier = before.memory
	if before.earlier != nil { // it did not get as far as to find out
		d.earlier = before.earlier
	}
}

// Close closes the file that Open opened. It does not wait for a command that is stuck
// in the kernel; the kernel releases the descriptor when that command returns.
func (d *Device) Close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// NamespaceID returns the id of the namespace whose node was opened; ok is false for
// the node of a controller.
func (d *Device) NamespaceID() (id uint32, ok bool) {
	if d.namespaceID == nil {
		return 0, false
	}
	return *d.namespaceID, true
}

// Controller reads the identity and the capabilities of the controller. Each call asks the
// controller again. When it is another controller or has other firmware, the Device forgets what it remembered.
func (d *Device) Controller() (Controller, error) {
	data, err := d.read(IdentifyCommand(IdentifyController, 0), identifyBytes)
	if err != nil {
		return Controller{}, err
	}
	c, err := DecodeController(data)
	if err != nil {
		return Controller{}, err
	}
	switch {
	case d.controller != nil && !d.of(c):
		d.memory = newMemory()
	case d.earlier != nil && d.earlier.of(c):
		d.memory = d.earlier
	}
	d.earlier = nil
	d.controller = &c
	return c, nil
}

// supports returns what the controller supports. It asks the controller only the first time.
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

// send sends a command, unless it only asks for something, and the controller has refused it for good before.
func (d *Device) send(cmd Command, data []byte) (result uint64, err error) {
	return d.sendWithin(cmd, data, d.Timeout)
}

// sendWithin is like send, with a timeout other than that of the device.
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
		if cmd.asks() && refusal.final() {
			d.refused[cmd] = &StatusError{Command: cmd, Status: completion.Status, Remembered: true}
		}
		return 0, refusal
	}
	return completion.Result, nil
}

// unsupported returns the error for something that the controller is known to lack,
// without having asked for it.
func unsupported(what string) error {
	return fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
}
