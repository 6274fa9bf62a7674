package lab

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// baseFormat is raised when the content of the base archive changes with the same programs in it.
const baseFormat = 2

// baseFiles are the small files of every guest.
func baseFiles() map[string]string {
	return map[string]string{
		"/etc/passwd":        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
		"/etc/group":         "root:x:0:\nnogroup:x:65534:\n",
		"/etc/hosts":         "127.0.0.1 localhost lab\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"/root/.profile":     "PS1='lab:\\w# '\n",
	}
}

// openBase opens the part of the archive that all machines share: busybox, fio, nvme and their
// libraries. It is created if it is not in the cache, or if one of its files has changed on the
// host since. Creating it twice at the same time does no harm. It is not compressed, because
// unpacking would cost the emulated processor more than reading costs the host.
func openBase(t tools) (*os.File, error) {
	files, err := withLibraries(map[string]string{
		"/bin/busybox":   t.busybox,
		"/usr/sbin/nvme": t.nvme,
	})
	if err != nil {
		return nil, err
	}
	files["/usr/bin/fio"] = t.fio
	needed, err := fioLibraries(t.fio)
	if err != nil {
		return nil, err
	}
	for _, path := range needed {
		files[path] = path
	}
	key, err := identity(files)
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cache, "base-"+key+".cpio")
	file, err := os.Open(path)
	if !errors.Is(err, os.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	if err := writeBase(path, t, files); err != nil {
		return nil, fmt.Errorf("write base archive: %w", err)
	}
	if err := removeOtherBases(cache, path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// withLibraries adds the shared libraries of the dynamic programs among the files, at their place on the host.
func withLibraries(programs map[string]string) (map[string]string, error) {
	all := maps.Clone(programs)
	for _, host := range programs {
		paths, err := libraries(host)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			all[path] = path
		}
	}
	return all, nil
}

// identity returns a hash that changes when one of the files does: the upgrade of a package changes times and sizes.
func identity(files map[string]string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, baseFormat)
	for _, guest := range slices.Sorted(maps.Keys(files)) {
		info, err := os.Stat(files[guest])
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, guest, files[guest], info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

func writeBase(path string, t tools, files map[string]string) error {
	applets, err := exec.Command(t.busybox, "--list").Output() //nolint:noctx // ends at once
	if err != nil {
		return fmt.Errorf("list busybox's commands: %w", err)
	}
	pending, err := renameio.NewPendingFile(path)
	if err != nil {
		return err
	}
	defer pending.Cleanup() //nolint:errcheck // nothing is left to clean up after success, and the first error counts
	buffered := bufio.NewWriterSize(pending, 1<<20)
	a := newArchive(buffered)
	if err := a.directory("/root"); err != nil {
		return err
	}
	if err := a.addAll(files); err != nil {
		return err
	}
	if err := a.addFioStubs(t.fio); err != nil {
		return err
	}
	small := baseFiles()
	for _, guest := range slices.Sorted(maps.Keys(small)) {
		if err := a.text(guest, small[guest]); err != nil {
			return err
		}
	}
	for applet := range strings.FieldsSeq(string(applets)) {
		if applet == "busybox" {
			continue
		}
		if err := a.link("/bin/"+applet, "busybox"); err != nil {
			return err
		}
	}
	if err := a.close(); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// addAll adds files by guest path in a fixed order.
func (a *archive) addAll(files map[string]string) error {
	for _, guest := range slices.Sorted(maps.Keys(files)) {
		if err := a.copyFile(guest, files[guest]); err != nil {
			return err
		}
	}
	return nil
}

// removeOtherBases removes archives of programs that have changed since. A process that has one open keeps it.
func removeOtherBases(cache, keep string) error {
	paths, err := filepath.Glob(filepath.Join(cache, "base-*.cpio"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if path == keep {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
