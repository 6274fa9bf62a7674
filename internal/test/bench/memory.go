package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// memoryDisk is an ext4 filesystem on a block device in memory (zram). Its speed is constant, and
// it costs the kernel almost nothing, so that comparisons on it compare the programs.
type memoryDisk struct {
	dir    string
	device string // its number, "253:1"
	closes []func() error
}

const (
	memoryDiskBytes = 512 << 20
	zramControl     = "/sys/class/zram-control"
	cgroups         = "/sys/fs/cgroup"
)

// newMemoryDisk creates a memoryDisk, or returns an error that says why that is not possible here.
func (b *bench) newMemoryDisk(ctx context.Context) (d *memoryDisk, err error) {
	if os.Geteuid() != 0 {
		return nil, unreachableError{"it needs root, to make a disk in memory"}
	}
	_ = tool(ctx, "modprobe", "zram") // it may be built in; if it is missing, the next step fails
	number, err := os.ReadFile(filepath.Join(zramControl, "hot_add"))
	if err != nil {
		return nil, unreachableError{fmt.Sprintf("make a disk in memory with the kernel's zram: %v", err)}
	}
	d = new(memoryDisk)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	id := strings.TrimSpace(string(number))
	sysfs, node := "/sys/block/zram"+id, "/dev/zram"+id
	d.closes = append(d.closes, func() error { return write(filepath.Join(zramControl, "hot_remove"), id) })
	device, err := os.ReadFile(filepath.Join(sysfs, "dev"))
	if err != nil {
		return d, err
	}
	d.device = strings.TrimSpace(string(device))
	d.closes = append(d.closes, func() error { return write(filepath.Join(sysfs, "reset"), "1") })
	if err := write(filepath.Join(sysfs, "disksize"), strconv.Itoa(memoryDiskBytes)); err != nil {
		return d, err
	}
	if err := tool(ctx, "mkfs.ext4", "-q", "-m", "0", node); err != nil {
		return d, err
	}
	if d.dir, err = os.MkdirTemp(b.work, "memory-"); err != nil {
		return d, err
	}
	if err := tool(ctx, "mount", "-o", "noatime", node, d.dir); err != nil {
		return d, err
	}
	d.closes = append(d.closes, func() error { return tool(context.WithoutCancel(ctx), "umount", d.dir) })
	return d, nil
}

// onMemoryDisk runs a comparison with a probe file on a memoryDisk.
func (b *bench) onMemoryDisk(ctx context.Context, compare func(*memoryDisk, *target.File) ([]line, error)) ([]line, error) {
	disk, err := b.newMemoryDisk(ctx)
	if err != nil {
		return nil, err
	}
	defer b.takeAway(disk)
	file, err := target.PrepareFile(ctx, filepath.Join(disk.dir, record.ProbeFileName), target.FileOptions{SizeBytes: memoryDiskBytes / 4})
	if err != nil {
		return nil, err
	}
	lines, err := compare(disk, file)
	if closed := file.Close(); closed != nil {
		return nil, closed
	}
	return lines, err
}

// takeAway closes a disk. An error does not discard the measurements; it is added to leftovers.
func (b *bench) takeAway(d *memoryDisk) {
	if err := d.close(); err != nil {
		b.leftovers = append(b.leftovers, fmt.Errorf("take away the disk in memory %s: %w", d.device, err))
	}
}

// close removes the disk.
func (d *memoryDisk) close() error {
	var problems []error
	for len(d.closes) > 0 {
		last := len(d.closes) - 1
		problems = append(problems, d.closes[last]())
		d.closes = d.closes[:last]
	}
	return errors.Join(problems...)
}

// hold limits this process and its children to iops reads of the disk per second, from now until
// the disk is closed. It puts them into a control group, of version 2 or 1.
func (d *memoryDisk) hold(iops int) error {
	root, limit, text := cgroups, "io.max", fmt.Sprintf("%s riops=%d", d.device, iops)
	if _, err := os.Stat(filepath.Join(root, "blkio")); err == nil {
		root, limit, text = filepath.Join(root, "blkio"), "blkio.throttle.read_iops_device", fmt.Sprintf("%s %d", d.device, iops)
	} else if err := write(filepath.Join(root, "cgroup.subtree_control"), "+io"); err != nil {
		return unreachableError{fmt.Sprintf("have the kernel hold a disk to a speed: %v", err)}
	}
	was, err := ownGroup(root)
	if err != nil {
		return err
	}
	group := filepath.Join(root, "ssdprobe-bench-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	d.closes = append(d.closes, func() error { return os.Remove(group) })
	if err := write(filepath.Join(group, limit), text); err != nil {
		return unreachableError{fmt.Sprintf("have the kernel hold a disk to a speed: %v", err)}
	}
	const members = "cgroup.procs"
	self := strconv.Itoa(os.Getpid())
	d.closes = append(d.closes, func() error { return write(filepath.Join(was, members), self) })
	return write(filepath.Join(group, members), self)
}

// ownGroup returns the directory of this process's control group below a hierarchy.
func ownGroup(root string) (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	controllers := ""
	if filepath.Base(root) == "blkio" {
		controllers = "blkio"
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 && fields[1] == controllers {
			return filepath.Join(root, fields[2]), nil
		}
	}
	return "", fmt.Errorf("/proc/self/cgroup names no group below %s", root)
}

// write writes a value into a file of the kernel.
func write(path, value string) error {
	return os.WriteFile(path, []byte(value), 0o644)
}
