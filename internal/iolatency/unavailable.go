package iolatency

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// UnavailableError says why the programs do not run here, and what to do.
type UnavailableError struct {
	Reason record.IOLatencyReason
	Do     string
	Err    error
}

// Error says what was tried, what is wrong, and what to do.
func (u *UnavailableError) Error() string {
	return fmt.Sprintf("load the eBPF programs that time I/O: %v: %s", u.Err, u.Do)
}

func (u *UnavailableError) Unwrap() error { return u.Err }

// unavailable explains an error of loading. The verifier of an old kernel also refuses with "permission
// denied", so its errors are checked first.
func unavailable(err error) *UnavailableError {
	var verifier *ebpf.VerifierError
	switch {
	case errors.As(err, &verifier), errors.Is(err, btf.ErrNotFound), errors.Is(err, ebpf.ErrNotSupported):
	case errors.Is(err, fs.ErrPermission): // EPERM or EACCES
		return &UnavailableError{record.IOLatencyRights, "they need the capabilities CAP_BPF and CAP_PERFMON, and the system call bpf", fs.ErrPermission} // cilium/ebpf would suggest RLIMIT_MEMLOCK
	}
	return &UnavailableError{record.IOLatencyKernel, "they need Linux 5.15 or later with BTF (/sys/kernel/btf/vmlinux)", err}
}
