package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// Port is the number of the virtio serial port that both ends use. The guest sees it as /dev/vport0p1, or with another
// number before the p.
const Port = 1

// MaxFrameBytes is the longest message that Read accepts and Write sends. It has room for MaxDataBytes encoded as JSON.
const MaxFrameBytes = 16 << 20

// MaxDataBytes is the most bytes that a program may write to both its outputs together, and the size of the longest file
// to read or write.
const MaxDataBytes = 8 << 20

// Request asks the agent for one thing. Exactly one verb is set.
type Request struct {
	ID     uint64
	Run    *Command    `json:",omitempty"` // start, wait for the end, forget
	Start  *Command    `json:",omitempty"` // start and answer at once; this request's ID identifies the process
	Await  *Await      `json:",omitempty"` // wait for a line of a started process
	Wait   *Process    `json:",omitempty"` // wait for the end of a started process
	Peek   *Process    `json:",omitempty"` // output of a started process so far
	Signal *SignalVerb `json:",omitempty"`
	Read   *Path       `json:",omitempty"` // a whole file
	Write  *WriteVerb  `json:",omitempty"` // create or replace a file
	Glob   *Path       `json:",omitempty"` // paths that match a pattern of path/filepath
	Find   *Find       `json:",omitempty"` // wait for a drive
}

// Reply answers the request of the same ID. Error is empty when the request was carried out.
type Reply struct {
	ID     uint64
	Error  string        `json:",omitempty"`
	Errno  syscall.Errno `json:",omitempty"` // the errno of Error, if known
	Hello  *Hello        `json:",omitempty"` // only in the first message, which has no ID
	PID    int           `json:",omitempty"` // Start: the process's ID in the guest
	Output *Output       `json:",omitempty"` // Run, Wait, Peek
	Line   string        `json:",omitempty"` // Await
	Data   []byte        `json:",omitempty"` // Read
	Paths  []string      `json:",omitempty"` // Glob
	Drive  *Drive        `json:",omitempty"` // Find
}

// Hello announces that the guest is up.
type Hello struct {
	Kernel string // release, such as "6.1.0-56-cloud-amd64"
}

// Command is a program to run in the guest.
type Command struct {
	Args  []string // the program, looked up in PATH, and its arguments
	Env   []string // "NAME=value", added to the agent's own environment
	Dir   string   // working directory; "" means "/"
	Stdin []byte   // empty means /dev/null

	// UID and GID are the user and group to run as; 0 is root. Another user only has the capabilities in Capabilities,
	// numbered as in <linux/capability.h>.
	UID, GID     uint32
	Capabilities []uintptr
}

// Process identifies a process by the ID of the request that started it.
type Process struct {
	ID uint64
}

// Await waits until the process has written a whole line with Text in it, to its standard output or error.
type Await struct {
	Process uint64
	Text    string
}

// SignalVerb sends a signal to the process, or to the process group that it leads. It also works for the process of a
// Run.
type SignalVerb struct {
	Process uint64
	Signal  syscall.Signal
	Group   bool
}

// Path is the path of a file, or a pattern.
type Path struct {
	Path string
}

// WriteVerb is a file to create, or to replace in place.
type WriteVerb struct {
	Path string
	Data []byte
	Mode uint32 // permission bits of a new file
}

// Find waits until a drive can be used: until there is a controller with a namespace behind each of the PCIe ports.
// Serial numbers are not sufficient, because drives may share one.
type Find struct {
	Ports  []string // PCI addresses, such as "0000:00:10.0"
	Within time.Duration
}

// Drive holds the names that the guest's kernel gives a drive.
type Drive struct {
	Controllers []string // such as "nvme0", in the order of the ports
	Namespaces  []string // such as "nvme0n1", sorted, each once; with multipath those of the subsystem
}

// Output is what a process has written, and its exit code if it has ended.
type Output struct {
	Stdout, Stderr []byte
	Exited         bool
	ExitCode       int // as in a shell: 128+n if signal n ended the process
}

// ErrTooLong is returned for a message of more than MaxFrameBytes.
var ErrTooLong = errors.New("message is too long")

// Write sends one message, or nothing if it returns ErrTooLong.
func Write(w io.Writer, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(body) > MaxFrameBytes {
		return fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLong, len(body), MaxFrameBytes)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// Read receives one message. It returns io.EOF if the other end closed between two messages.
func Read(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > MaxFrameBytes {
		return fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLong, length, MaxFrameBytes)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if err := json.Unmarshal(body, message); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}
