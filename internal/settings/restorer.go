package settings

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	// readyLine is what the restorer says when nothing but SIGKILL ends it any more.
	readyLine = "ready\n"
	// startPatience is how long a busy machine may take to start it, and endPatience
	// how long it may take to end.
	startPatience = 30 * time.Second
	endPatience   = 10 * time.Second
)

// restorer is the process that restores the settings of a device when this one is
// killed. It reads from a pipe whose other end this process alone holds, and nothing
// that it starts: the kernel closes that end, whatever ends the process.
//
// It is in a session of its own, so that neither Ctrl-C nor a signal to the group of
// this process reaches it.
type restorer struct {
	alive io.Closer // the other end
	pid   int
	done  chan struct{} // closed when it has ended
	how   string        // "signal: killed"; to be read after that
}

// startRestorer starts it for a device, and returns when it is ready.
func (o Options) startRestorer(id string) (*restorer, error) {
	fail := func(err error) (*restorer, error) {
		return nil, fmt.Errorf("start the process that restores settings if this one is killed: %w", err)
	}
	if len(o.Restorer) == 0 {
		return fail(errors.New("nobody has said by which command"))
	}
	dir, err := filepath.Abs(o.Store.Dir())
	if err != nil {
		return fail(err)
	}
	args := slices.Concat(o.Restorer[1:], []string{"--state-dir", dir, "--host-root", o.FS.Root(), id})
	cmd := exec.CommandContext(context.Background(), o.Restorer[0], args...)
	cmd.Args[0] = "ssdprobe" // for ps, whatever the path is
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, errIn := cmd.StdinPipe()
	said, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	late := time.AfterFunc(startPatience, func() { _ = cmd.Process.Kill() }) // it may have ended
	line, err := bufio.NewReader(said).ReadString('\n')
	late.Stop()
	r := &restorer{alive: alive, pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the state has it
		r.how = cmd.ProcessState.String()
		close(r.done)
	}()
	if line != readyLine {
		return fail(errors.Join(fmt.Errorf("it said %q, and not that it is ready", line), err, cmd.Process.Kill(), r.end()))
	}
	return r, nil
}

// check is an error when the process has ended: nobody would restore what is changed now.
func (r *restorer) check() error {
	if r.ended() {
		return fmt.Errorf("process %d, which restores settings if this one is killed, has ended (%s): start the run again", r.pid, r.how)
	}
	return nil
}

func (r *restorer) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// leave hands what is left over to the process, which goes on after this one.
func (r *restorer) leave() error {
	if err := r.alive.Close(); !errors.Is(err, os.ErrClosed) { // it has ended, and was told of
		return err
	}
	return nil
}

// end tells the process that this one has restored by itself, and waits for it.
func (r *restorer) end() error {
	err := r.leave()
	select {
	case <-r.done:
	case <-time.After(endPatience):
		return fmt.Errorf("process %d, which restores settings, does not end", r.pid)
	}
	return err
}
