package nvme

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Open opens the device node of a controller, /dev/nvme0, or of a namespace,
// /dev/nvme0n1 or /dev/ng0n1, read-only and close-on-exec. Commands need CAP_SYS_ADMIN, except those
// that the kernel allows without it. A denied command matches [fs.ErrPermission]. If
// the driver cannot reach the controller, the error matches [ErrNotLive].
//
// Read the health of a controller through the controller's node. The node of a
// multipath namespace may lead to any of its controllers. A partition, and a device of
// the device mapper that lies on one namespace, passes commands on: they concern the
// whole namespace.
//
// For nodes of other drivers the error is [ErrNotNVMe]: Open returns it for block devices
// and some character devices, the first command for the others. The numbers of the NVMe ioctls are
// reserved to the NVMe driver, so other drivers do not know them. A drive behind a USB
// bridge therefore never receives an NVMe command.
func Open(path string) (*Device, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open nvme: %w", err)
	}
	// Opening anything else, such as a FIFO, might block or have side effects.
	if info.Mode()&fs.ModeDevice == 0 {
		return nil, fmt.Errorf("open nvme %s: %w", path, ErrNotNVMe)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.EWOULDBLOCK) { // nvme_dev_open in drivers/nvme/host/core.c
		return nil, fmt.Errorf("open nvme %s: %w: it resets it, connects again, or has given it up (see state in /sys/class/nvme/%s): %w",
			path, ErrNotLive, filepath.Base(path), err)
	}
	if err != nil {
		return nil, fmt.Errorf("open nvme: %w", err)
	}
	transport := &ioctlTransport{file: file}
	d := NewDevice(transport)
	d.file = file
	id, err := transport.namespaceID()
	switch {
	case err == nil:
		d.namespaceID = &id
	case info.Mode()&fs.ModeCharDevice != 0 && errors.Is(err, syscall.ENOTTY): // as of a controller, which has no namespace id
	default:
		return nil, errors.Join(fmt.Errorf("open nvme %s: %w", path, err), file.Close())
	}
	return d, nil
}

// OnFile returns the device of a namespace whose block device is already open, for
// example held exclusively. The caller still closes the file. The error matches
// [ErrNotNVMe] for a block device of another driver.
func OnFile(file *os.File) (*Device, error) {
	transport := &ioctlTransport{file: file}
	id, err := transport.namespaceID()
	if err != nil {
		return nil, fmt.Errorf("open nvme %s: %w", file.Name(), err)
	}
	d := NewDevice(transport)
	d.namespaceID = &id
	return d, nil
}

// ioctlTransport sends commands through the ioctls of linux/nvme_ioctl.h.
type ioctlTransport struct {
	file *os.File
	// narrow is set once the driver turns out to be older than Linux 5.4, which added
	// the ioctl with a 64-bit result.
	narrow bool
}

// The ioctls of linux/nvme_ioctl.h that are the same on all architectures of Linux.
const (
	ioctlAdmin   = 0xC0484E41 // _IOWR('N', 0x41, struct nvme_passthru_cmd)
	ioctlAdmin64 = 0xC0504E47 // _IOWR('N', 0x47, struct nvme_passthru_cmd64)
)

// ioctlNamespaceID returns _IO('N', 0x40). Some architectures mark an ioctl without data by a bit.
func ioctlNamespaceID(arch string) uintptr {
	const number = 'N'<<8 | 0x40
	if strings.HasPrefix(arch, "ppc") || strings.HasPrefix(arch, "mips") {
		return 1<<29 | number
	}
	return number
}

// passthru is struct nvme_passthru_cmd64. The older struct nvme_passthru_cmd has the same
// fields up to the timeout, and then a 32-bit result where this struct has reserved bytes.
type passthru struct {
	opcode         uint8
	flags          uint8
	_              uint16
	namespaceID    uint32
	dword2         uint32
	dword3         uint32
	metadata       uint64
	address        uint64
	metadataLength uint32
	dataLength     uint32
	dword10        uint32
	dword11        uint32
	dword12        uint32
	dword13        uint32
	dword14        uint32
	dword15        uint32
	timeoutMillis  uint32
	narrowResult   uint32
	result         uint64
}

// passthruOf returns the structure for a command without data.
func passthruOf(cmd Command) passthru {
	return passthru{
		opcode:        uint8(cmd.Opcode),
		namespaceID:   cmd.NamespaceID,
		dword10:       cmd.Dword10,
		dword11:       cmd.Dword11,
		dword14:       cmd.Dword14,
		timeoutMillis: milliseconds(cmd.Timeout),
	}
}

// Admin implements [Transport].
func (t *ioctlTransport) Admin(cmd Command, data []byte) (Completion, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	p := passthruOf(cmd)
	if len(data) > 0 {
		// Pin the buffer: its address is in an integer, which the garbage collector does not see.
		pinner.Pin(&data[0])
		p.address = uint64(uintptr(unsafe.Pointer(&data[0])))
		p.dataLength = uint32(len(data))
	}
	return t.submit(&p, t.ioctl)
}

// submit sends a command by the ioctl that the driver has.
func (t *ioctlTransport) submit(p *passthru, ioctl func(request uintptr, p *passthru) (Status, error)) (Completion, error) {
	if !t.narrow {
		status, err := ioctl(ioctlAdmin64, p)
		if !errors.Is(err, syscall.ENOTTY) {
			return Completion{Status: status, Result: p.result}, driverError(err)
		}
	}
	status, err := ioctl(ioctlAdmin, p)
	if err != nil {
		return Completion{}, driverError(err)
	}
	t.narrow = true
	return Completion{Status: status, Result: uint64(p.narrowResult)}, nil
}

// namespaceID asks the driver, not the drive, for the namespace of a block device.
func (t *ioctlTransport) namespaceID() (uint32, error) {
	id, err := t.control(func(fd uintptr) (uintptr, syscall.Errno) {
		id, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, ioctlNamespaceID(runtime.GOARCH), 0)
		return id, errno
	})
	if errors.Is(err, syscall.EINVAL) {
		// Drivers that have no ioctls at all answer EINVAL.
		return 0, fmt.Errorf("%w: %w", ErrNotNVMe, err)
	}
	return uint32(id), driverError(err)
}

// ioctl returns the return value of the call, which is the status of the command. The
// command's result is in p.
func (t *ioctlTransport) ioctl(request uintptr, p *passthru) (Status, error) {
	status, err := t.control(func(fd uintptr) (uintptr, syscall.Errno) {
		status, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(p)))
		return status, errno
	})
	return Status(status), err
}

// control keeps the descriptor open during the call, even if another goroutine closes
// the device meanwhile.
func (t *ioctlTransport) control(call func(fd uintptr) (uintptr, syscall.Errno)) (uintptr, error) {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var result uintptr
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) { result, errno = call(fd) }); err != nil {
		return 0, fmt.Errorf("%w: %w", fs.ErrClosed, err)
	}
	if errno != 0 {
		return 0, errno
	}
	return result, nil
}

// driverError translates the errnos of the driver into the errors of this package and
// of io/fs. EPERM and EACCES match fs.ErrPermission by themselves.
func driverError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOTTY):
		return fmt.Errorf("%w: %w", ErrNotNVMe, err)
	case errors.Is(err, syscall.EINTR):
		return fmt.Errorf("%w: %w", ErrCancelled, err)
	case errors.Is(err, syscall.EWOULDBLOCK): // nvme_ns_head_ioctl in drivers/nvme/host/ioctl.c
		return fmt.Errorf("%w: %w", ErrNotLive, err)
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// milliseconds rounds up, so that a short timeout does not become 0, which means the driver's own.
func milliseconds(d time.Duration) uint32 {
	ms := (max(d, 0) + time.Millisecond - 1) / time.Millisecond
	return uint32(min(ms, 1<<32-1))
}
