package lab

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tools holds the paths of what scripts/lab-setup.sh installed.
type tools struct {
	qemu, busybox, fio, nvme string

	kernel  string // vmlinuz
	modules string // lib/modules/RELEASE
}

// cacheDir returns where the lab keeps what it can recreate.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "ssdprobe", "lab"), nil
}

// locate finds the tools, or returns one error about everything that is missing.
func locate() (tools, error) {
	var t tools
	var missing []error
	for _, program := range []struct {
		path         *string
		name, debian string
	}{
		{&t.qemu, "qemu-system-x86_64", "qemu-system-x86"},
		{&t.busybox, "busybox", "busybox-static"},
		{&t.fio, "fio", "fio"},
		{&t.nvme, "nvme", "nvme-cli"},
	} {
		var err error
		if *program.path, err = lookPath(program.name); err != nil {
			missing = append(missing, fmt.Errorf("%w (Debian package %s)", err, program.debian))
		}
	}
	if err := t.locateKernel(); err != nil {
		missing = append(missing, fmt.Errorf("kernel of Debian package linux-image-cloud-amd64: %w", err))
	}
	if len(missing) > 0 {
		return t, fmt.Errorf("laboratory is not set up, run scripts/lab-setup.sh: %w", errors.Join(missing...))
	}
	return t, nil
}

func (t *tools) locateKernel() error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	// Resolve the link once, so that a kernel that is updated meanwhile is not used with the
	// modules of the old one.
	current, err := filepath.EvalSymlinks(filepath.Join(cache, "kernel", "current"))
	if err != nil {
		return err
	}
	t.kernel = filepath.Join(current, "vmlinuz")
	if _, err := os.Stat(t.kernel); err != nil {
		return err
	}
	releases, err := filepath.Glob(filepath.Join(current, "lib", "modules", "*"))
	if err != nil {
		return err
	}
	if len(releases) != 1 {
		return fmt.Errorf("%s has %d module folders, not one", current, len(releases))
	}
	t.modules = releases[0]
	return nil
}

// lookPath finds a program, also in directories that are only in root's PATH.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, name))
	}
	if err != nil {
		return "", fmt.Errorf("program %s is missing: %w", name, exec.ErrNotFound)
	}
	return path, nil
}

// libraries lists the shared libraries of a program, including the loader; none for a static program or a script.
func libraries(program string) ([]string, error) {
	if dynamic, err := isDynamic(program); err != nil || !dynamic {
		return nil, err
	}
	out, err := exec.Command("ldd", program).Output() //nolint:noctx // ends at once
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w", program, err)
	}
	var paths []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "not found") {
			return nil, fmt.Errorf("ldd %s: %s", program, strings.TrimSpace(line))
		}
		// "libm.so.6 => /lib/…/libm.so.6 (0x…)", "/lib64/ld-linux-x86-64.so.2 (0x…)" or "linux-vdso.so.1 (0x…)".
		for field := range strings.FieldsSeq(line) {
			if filepath.IsAbs(field) {
				paths = append(paths, field)
			}
		}
	}
	return paths, nil
}

func isDynamic(program string) (bool, error) {
	file, err := elf.Open(program)
	if _, other := errors.AsType[*elf.FormatError](err); other {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	return slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), nil
}
