package lab

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
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
	// this thread must stay. It ends with this function, as it is never unlocked.
	runtime.LockOSThread()
	err := onOneCPU()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		started <- err
		return
	}
	h.process = cmd.Process
	started <- nil
	h.err = cmd.Wait()
	close(h.done)
}

// onOneCPU restricts this thread, and what it starts, to one of the CPUs that it may use. With one thread for all processors,
// QEMU leaves out the memory barriers of the guest. The NVMe driver needs one between its write of a shadow doorbell and its
// read of the event index (NVM Express 1.3, section 7.13): while the emulated controller runs on another CPU, doorbells are
// lost, and I/O hangs.
func onOneCPU() error {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("ask for the CPUs of a thread: %w", err)
	}
	nth := rand.IntN(all.Count()) // two machines at a time may have one each
	for cpu := 0; one.Count() == 0; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if nth == 0 {
			one.Set(cpu)
		}
		nth--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("restrict a thread to one CPU: %w", err)
	}
	return nil
}

// kill ends QEMU and returns when it is gone. Nothing is lost, because a machine's images are temporary.
func (h *hypervisor) kill() error {
	if err := h.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill QEMU: %w", err)
	}
	<-h.done
	return nil
}
