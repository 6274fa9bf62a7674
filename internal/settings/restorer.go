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
	// readyLine is what the restorer prints once only SIGKILL can end it.
	readyLine = "ready\n"
	// startPatience is how long the restorer may take to start on a busy machine, and
	// endPatience how long it may take to end.
	startPatience = 30 * time.Second
	endPatience   = 10 * time.Second
)

// restorer is the process that restores the settings of a device if this process is
// killed. It reads from a pipe whose other end only this process holds; none of its
// children inherit it. The kernel closes that end however this process ends.
//
// It has its own session, so that neither Ctrl-C nor a signal to this process's group
// reaches it.
type restorer struct {
	alive io.Closer // the other end of the pipe
	pid   int
	done  chan struct{} // closed when the process has ended
	how   string        // "signal: killed"; valid after done is closed
}

// startRestorer starts the restorer for a device, and returns when it is ready.
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
	cmd.Args[0] = "ssdprobe" // the name that ps shows, whatever the path
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
	late := time.AfterFunc(startPatience, func() { _ = cmd.Process.Kill() }) // it may have ended already
	line, err := bufio.NewReader(said).ReadString('\n')
	late.Stop()
	r := &restorer{alive: alive, pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // ProcessState holds the result
		r.how = cmd.ProcessState.String()
		close(r.done)
	}()
	if line != readyLine {
		return fail(errors.Join(fmt.Errorf("it said %q, and not that it is ready", line), err, cmd.Process.Kill(), r.end()))
	}
	return r, nil
}

// check returns an error if the restorer has ended: nobody would then restore further
// changes.
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

// leave hands the remaining work over to the restorer, which continues after this
// process.
func (r *restorer) leave() error {
	if err := r.alive.Close(); !errors.Is(err, os.ErrClosed) { // closed already: the restorer has ended, which was reported
		return err
	}
	return nil
}

// end tells the restorer that this process has restored the settings itself, and waits
// for its end.
func (r *restorer) end() error {
	err := r.leave()
	select {
	case <-r.done:
	case <-time.After(endPatience):
		return fmt.Errorf("process %d, which restores settings, does not end", r.pid)
	}
	return err
}
