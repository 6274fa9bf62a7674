package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// hypervisor is the QEMU process. It dies with this process, however this process ends.
type hypervisor struct {
	process *os.Process
	done    chan struct{} // closed when it has ended
	err     error         // the error of Wait; to be read after done
}

// startHypervisor starts the program with the files as descriptors 3 and up.
func startHypervisor(
	program string, args []string, files []*os.File, in io.Reader, out, errOut io.Writer,
) (*hypervisor, error) {
	cmd := exec.Command(program, args...) //nolint:noctx // it outlives the context of its boot; kill ends it
	cmd.ExtraFiles = files
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	h := &hypervisor{done: make(chan struct{})}
	started := make(chan error)
	go h.run(cmd, started) // ends with the process, for which kill waits
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return h, nil
}

func (h *hypervisor) run(cmd *exec.Cmd, started chan<- error) {
	// The kernel sends the parent-death signal when the thread that started the process ends, so
	// this thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	h.process = cmd.Process
	started <- nil
	h.err = cmd.Wait()
	close(h.done)
}

// kill ends QEMU and returns when it is gone. Nothing is lost, because a machine's images are temporary.
func (h *hypervisor) kill() error {
	if err := h.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill QEMU: %w", err)
	}
	<-h.done
	return nil
}
