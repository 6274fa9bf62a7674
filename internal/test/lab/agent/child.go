package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// startChild starts the main process of the machine: an interactive shell on the console if the
// kernel's command line has lab.shell=ROWSxCOLUMNS, else the agent that serves the lab.
func startChild() (int, error) {
	cmdline, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return 0, err
	}
	path, args := "/proc/self/exe", []string{"agent"}
	attr := &os.ProcAttr{Env: environment(), Dir: "/", Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	if size, ok := shellSize(string(cmdline)); ok {
		console, err := openConsole(size)
		if err != nil {
			return 0, err
		}
		defer console.Close()
		path, args = "/bin/sh", []string{"-sh"}
		attr.Dir = "/root"
		attr.Files = []*os.File{console, console, console}
		attr.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	process, err := os.StartProcess(path, args, attr)
	if err != nil {
		return 0, err
	}
	return process.Pid, nil
}

// shellSize finds the terminal's size in the kernel's command line, if a shell is requested.
func shellSize(cmdline string) (string, bool) {
	for field := range strings.FieldsSeq(cmdline) {
		if size, ok := strings.CutPrefix(field, "lab.shell="); ok {
			return size, true
		}
	}
	return "", false
}

// openConsole opens the serial line as a terminal of the given size. /dev/console itself cannot control a session.
func openConsole(size string) (*os.File, error) {
	var window unix.Winsize
	if _, err := fmt.Sscanf(size, "%dx%d", &window.Row, &window.Col); err != nil {
		return nil, fmt.Errorf("terminal size %q: %w", size, err)
	}
	console, err := os.OpenFile("/dev/ttyS0", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetWinsize(int(console.Fd()), unix.TIOCSWINSZ, &window); err != nil {
		return nil, fmt.Errorf("set terminal size: %w", err)
	}
	return console, nil
}
