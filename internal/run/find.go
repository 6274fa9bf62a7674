package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Find returns the subject that path names: a block device (by any of its names), a file, or a directory in which
// to make a file of fileBytes.
func Find(fs sysfs.FS, path string, fileBytes int64) (measure.Subject, error) {
	typed := path
	if typed == "" {
		return measure.Subject{}, errors.New("find a target: its path is empty")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", typed, err)
	}
	// Links are resolved once: fio opens the path itself, after all checks, when the link may lead elsewhere.
	if path, err = filepath.EvalSymlinks(path); os.IsNotExist(err) {
		return measure.Subject{}, notThere(fs, typed)
	} else if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", typed, err)
	}
	block, err := target.IsBlockDevice(path)
	if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", typed, err)
	}
	if block {
		host := device.NewScanner(fs)
		d, err := host.Find(path)
		if err != nil {
			return measure.Subject{}, err
		}
		if why := device.NoSize(d); why != "" {
			return measure.Subject{}, fmt.Errorf("find %s: %s", typed, why)
		}
		return known(measure.OfDevice(host, path, d))
	}
	if err := checkFile(path); err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", typed, err)
	}
	s, err := known(measure.OfFile(device.NewFilesystems(fs), path, fileBytes, 0))
	s.AskedBytes = fileBytes
	return asItIs(s), err
}

// asItIs returns the subject with the size of the probe file that is there now, which is that of the daemon or of a killed
// run and is used in its present size; or with the size that the user asked for.
func asItIs(s measure.Subject) measure.Subject {
	if s.AskedBytes == 0 {
		return s
	}
	small := func(w record.Warning) bool { return w.Code == record.WarnSmallFile }
	s.FileBytes, s.Warnings = s.AskedBytes, slices.DeleteFunc(slices.Clone(s.Warnings), small)
	if size, ok := madeBefore(s.Path); ok {
		s.FileBytes = size
	}
	if s.FileBytes < s.AskedBytes && isDirectory(s.Path) { // the user requests no size for a file that is named itself
		s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnSmallFile, Text: fmt.Sprintf(
			"the probe file that is there has %s, and --size is %s", units.Size(s.FileBytes), units.Size(s.AskedBytes),
		)})
	}
	return s
}

// checkFile refuses files without a drive below them: device nodes that are not block devices, filesystems in
// memory and virtual filesystems of the kernel, and files too small to reach the drive.
func checkFile(path string) error {
	const name = "name a block device, a file, or a directory to make a file in"
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("it is %s; %s", kindOf(info.Mode()), name)
	}
	var st unix.Statfs_t
	switch err := unix.Statfs(path, &st); {
	case err != nil:
		return &os.PathError{Op: "statfs", Path: path, Err: err}
	case st.Type == unix.TMPFS_MAGIC, st.Type == unix.RAMFS_MAGIC:
		return fmt.Errorf("it is on a filesystem in memory, with no drive to measure; %s", name)
	case st.Blocks == 0 && slices.Contains(madeUp(), st.Type):
		return fmt.Errorf("it is on a pseudo filesystem of the kernel, with no drive to measure; %s", name)
	case !info.IsDir() && info.Size() < smallestFile:
		return fmt.Errorf("its %d bytes are too few to measure; name a larger file, or a directory to make one in", info.Size())
	}
	return nil
}

// smallestFile is a few times the largest block of the probes, in bytes.
const smallestFile = 1 << 20

// madeUp lists virtual filesystems without blocks that a user may name by mistake.
func madeUp() []int64 {
	return []int64{
		unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
		unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC, unix.PSTOREFS_MAGIC,
		unix.NSFS_MAGIC,
	}
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode&os.ModeCharDevice != 0:
		return "a character device"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	default:
		return "no regular file"
	}
}

// notThere returns the error for a path where nothing exists. A file is never made under a name that was typed:
// with a mistyped mount point or device, that would measure another drive.
func notThere(fs sysfs.FS, typed string) error {
	if d, err := device.Find(fs, typed); err == nil {
		return fmt.Errorf("find %s: nothing is there; the device of that name is /dev/%s", typed, d.Name)
	}
	return fmt.Errorf("find %s: nothing is there; name a block device, a file, or a directory to make a file in", typed)
}

// madeBefore returns the size of an existing probe file at path or in the directory there. Requesting a different
// size would replace that file.
func madeBefore(path string) (sizeBytes int64, ok bool) {
	file, err := target.Locate(path)
	if err != nil {
		return 0, false
	}
	made, err := os.Stat(file)
	if err != nil || made.Size() < record.MinProbeFileBytes {
		return 0, false
	}
	return made.Size(), true
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// known turns what could not be read about a device into a warning, because the device can be measured all the
// same.
func known(s measure.Subject, err error) (measure.Subject, error) {
	if err != nil {
		s.Warnings = append(s.Warnings, record.Warning{
			Code: record.WarnConditionsUnknown, Text: fmt.Sprintf("not all conditions could be read: %v", err),
		})
	}
	return s, nil
}
