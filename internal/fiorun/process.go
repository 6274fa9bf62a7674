package fiorun

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// reportLimit is the largest accepted report of fio, in bytes. One job and direction
	// takes at most 50 KiB.
	reportLimit = 64 << 20
	// drain is how long the pipes of an ended fio are still read: whoever keeps them open
	// longer is not fio.
	drain = 2 * time.Second
)

// process is one running fio.
type process struct {
	cmd    *exec.Cmd
	marker string // in the environment of fio and of everything that it starts
	kill   context.CancelFunc
	// ended receives how fio ended, once.
	ended chan error

	messages head     // what fio wrote to its standard error
	names    []string // what to replace in messages, and by what
	results  *os.File
	report   chan []byte
	tooLong  chan struct{} // closed if the report is longer than reportLimit
}

// nowhere is the working directory of every fio. Nobody, not even root, can create a file
// in it. A name without a directory in a job therefore cannot replace or follow a file of
// the user. It needs no space, is never left behind, and exists wherever fio's results
// can be read.
const nowhere = "/proc"

// inherited returns the name by which fio opens the descriptor number i of those that are passed to it. The pipe for its
// results precedes them.
func inherited(i int) string { return fmt.Sprintf("/proc/self/fd/%d", 4+i) }

// start runs fio with a job on its standard input. status is called with the lines of
// fio's standard output, and fio inherits the descriptors in held.
//
// fio only prints its status to standard output if the results go elsewhere, so they go
// to a separate pipe.
//
// fio ends with this process, however that ends. Normally the kernel kills it
// (Pdeathsig). That setting is lost if the started program changes its credentials or is
// a script that starts fio. fio then fails at its next status line, within a second,
// because nobody reads the pipe any more.
func start(ctx context.Context, path string, args []string, job string, held []*os.File, status func(string)) (*process, error) {
	results, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start fio: %w", err)
	}
	// When the caller's ctx ends, Run first asks fio to stop. This context kills it.
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{
		marker: "SSDPROBE_FIO=" + rand.Text(), kill: kill, ended: make(chan error, 1), messages: head{limit: 64 << 10},
		results: results, report: make(chan []byte, 1), tooLong: make(chan struct{}),
	}
	p.cmd = exec.CommandContext(ctx, path, append(args, "--output="+inherited(-1), "-")...)
	p.cmd.Stdin = strings.NewReader(job)
	p.cmd.Stdout = &lines{line: status}
	p.cmd.Stderr = &p.messages
	p.cmd.ExtraFiles = append([]*os.File{theirs}, held...)
	p.cmd.Dir = nowhere
	p.cmd.Env = append(os.Environ(), p.marker)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.Cancel = func() error { return p.signal(syscall.SIGKILL) }
	p.cmd.WaitDelay = drain

	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	err = errors.Join(err, theirs.Close())
	if err != nil {
		kill()
		return nil, errors.Join(fmt.Errorf("start fio: %w", err), results.Close())
	}
	go p.read()
	return p, nil
}

// run starts fio and waits for it. It keeps its thread because the kernel sends the
// signal of Pdeathsig when the thread that started fio ends, not when the process ends.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.ended <- p.cmd.Wait()
	}
}

// read collects the report. It ends at the end of the pipe, or when collect cuts it off.
// In the latter case, something other than fio kept the pipe open, and the report is
// complete.
func (p *process) read() {
	var b bytes.Buffer
	if n, _ := io.CopyN(&b, p.results, reportLimit+1); n > reportLimit {
		close(p.tooLong)
	}
	p.report <- b.Bytes()
}

// collect returns the report of an fio that has ended.
func (p *process) collect() ([]byte, error) {
	p.kill()
	if err := p.results.SetReadDeadline(time.Now().Add(drain)); err != nil {
		return nil, fmt.Errorf("read fio's report: %w", err)
	}
	report := <-p.report
	if err := p.results.Close(); err != nil {
		return nil, fmt.Errorf("read fio's report: %w", err)
	}
	return report, nil
}

// abandon releases what can be released of an fio whose report is not needed.
func (p *process) abandon() error {
	p.kill()
	return p.results.Close()
}

// signal sends a signal to fio's process group.
func (p *process) signal(s syscall.Signal) error {
	err := syscall.Kill(-p.cmd.Process.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// wait waits at most d for fio to end, and returns whether and how it ended.
func (p *process) wait(d time.Duration) (ended bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-p.ended:
		return true, err
	case <-timer.C:
		return false, nil
	}
}
