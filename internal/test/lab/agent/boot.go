package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// environment returns the environment of all programs in the guest.
func environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME=/root", "TERM=linux"}
}

type mount struct {
	source, target, kind, options string
}

// boot does the work of process 1, and returns when its child has ended.
func boot() error {
	for _, m := range []mount{
		{"proc", "/proc", "proc", ""},
		{"sysfs", "/sys", "sysfs", ""},
		{"devtmpfs", "/dev", "devtmpfs", ""},
		{"devpts", "/dev/pts", "devpts", ""},
		{"shm", "/dev/shm", "tmpfs", ""},
		{"tmp", "/tmp", "tmpfs", "mode=1777"},
		{"run", "/run", "tmpfs", "mode=755"},
		{"cgroup2", "/sys/fs/cgroup", "cgroup2", ""},
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.source, m.target, m.kind, 0, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := unix.Sethostname([]byte("lab")); err != nil {
		return fmt.Errorf("set hostname: %w", err)
	}
	if err := loadModules("/lab/modules"); err != nil {
		return err
	}
	os.Clearenv()
	for _, pair := range environment() {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := startNetwork(); err != nil {
		return err
	}
	child, err := startChild()
	if err != nil {
		return err
	}
	return reapUntil(child)
}

// loadModules loads the modules listed in the file, one path per line, each after those that it depends on.
func loadModules(list string) error {
	paths, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for path := range strings.Lines(string(paths)) {
		if err := loadModule(strings.TrimSpace(path)); err != nil {
			return err
		}
	}
	return nil
}

func loadModule(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	flags := 0
	if filepath.Ext(path) != ".ko" {
		flags = unix.MODULE_INIT_COMPRESSED_FILE
	}
	if err := unix.FinitModule(int(file.Fd()), "", flags); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("load module %s: %w", path, err)
	}
	return nil
}

// startNetwork gives the guest its loopback, and the address that QEMU's user network expects when there is a card.
func startNetwork() error {
	script := "ip link set lo up"
	if _, err := os.Stat("/sys/class/net/eth0"); err == nil {
		script += " && ip addr add 10.0.2.15/24 dev eth0 && ip link set eth0 up && ip route add default via 10.0.2.2"
	}
	cmd := exec.Command("sh", "-c", script) //nolint:noctx // process 1 has nothing to do but wait for it
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("network: %w: %s", err, out)
	}
	return nil
}

// reapUntil collects ended children, its own and those orphaned to it, until the given one has ended.
func reapUntil(child int) error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case pid == child && status.ExitStatus() != 0:
			return fmt.Errorf("agent ended with status %#x", int(status))
		case pid == child:
			return nil
		}
	}
}
