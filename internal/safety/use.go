package safety

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// numbers are the kernel's numbers of a device and its partitions, with the names.
type numbers map[string]string

func numbersOf(fs sysfs.FS, d record.Device) (numbers, error) {
	all := numbers{d.Number: d.Name}
	for _, child := range d.Children {
		number, err := fs.Text(path.Join("/sys/class/block", strings.ReplaceAll(child, "/", "!"), "dev"))
		if err != nil {
			return nil, fmt.Errorf("read the number of %s: %w", child, err)
		}
		all[number] = child
	}
	return all, nil
}

// node returns the name of the device or partition that a path leads to, whatever
// the path is called; empty when it is another one or none.
func (n numbers) node(name string) string {
	var st unix.Stat_t
	if !path.IsAbs(name) || unix.Stat(name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	return n[numberText(st.Rdev)]
}

func numberText(rdev uint64) string { return fmt.Sprintf("%d:%d", unix.Major(rdev), unix.Minor(rdev)) }

// mounts finds mounts of the device and its partitions, in the view of this process
// and of the host's first one, which may see more.
func mounts(fs sysfs.FS, n numbers) ([]Finding, error) {
	var found []Finding
	for _, view := range []struct {
		fs   sysfs.FS
		file string
		own  bool
	}{{sysfs.FS{}, "/proc/self/mountinfo", true}, {fs, "/proc/1/mountinfo", false}} {
		list, err := readMounts(view.fs, view.file)
		if err != nil && !view.own && (errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist)) {
			continue // the exclusive open finds out all the same
		} else if err != nil {
			return nil, err
		}
		for _, m := range list {
			name := n[fmt.Sprintf("%d:%d", m.Major, m.Minor)]
			if name == "" { // btrfs gives a number of its own
				name = n.node(m.Source)
			}
			f := Finding{KindMount, fmt.Sprintf("/dev/%s is mounted at %s (%s)", name, m.Mountpoint, m.FSType)}
			if name != "" && !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found, nil
}

func readMounts(fs sysfs.FS, file string) ([]*mountinfo.Info, error) {
	f, err := fs.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	list, err := mountinfo.GetMountsFromReader(f, nil)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read mounts of %s: %w", file, err)
	}
	return list, nil
}

// swaps finds swap space in use. Without the file, the kernel has no swap.
func swaps(fs sysfs.FS, n numbers) ([]Finding, error) {
	f, err := fs.Open("/proc/swaps")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read swaps: %w", err)
	}
	defer f.Close()
	var found []Finding
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return found, lines.Err()
		}
		file, _, _ := strings.Cut(lines.Text(), " ")
		if name := n.node(unescape(file)); name != "" {
			found = append(found, Finding{KindSwap, fmt.Sprintf("/dev/%s is swap space in use", name)})
		}
	}
}

// unescape undoes what the kernel does to blanks in paths.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// holders finds devices made of this one, and loop devices backed by it.
func holders(fs sysfs.FS, d record.Device, n numbers) ([]Finding, error) {
	var found []Finding
	for _, holder := range d.Holders {
		found = append(found, Finding{KindHolder, fmt.Sprintf("/dev/%s is made of it", holder)})
	}
	blocks, err := fs.List("/sys/block")
	if err != nil {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	for _, block := range blocks {
		backing, err := fs.Text(path.Join("/sys/block", block, "loop/backing_file"))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read what %s is made of: %w", block, err)
		default:
			if name := n.node(backing); name != "" {
				found = append(found, Finding{KindHolder, fmt.Sprintf("the loop device /dev/%s is made of /dev/%s", block, name)})
			}
		}
	}
	return found, nil
}

// firstNamespace is the PID namespace that has all processes of the host:
// PROC_PID_INIT_INO of <linux/proc_ns.h>.
const firstNamespace = "pid:[4026531836]"

// processes finds other processes that have the device open for writing. Those of
// other users are seen by root alone; what holds the device exclusively is noticed
// in any case. A database may write to a raw device without that, so where processes
// of the host are out of sight, that is what is found.
func processes(n numbers) ([]Finding, error) {
	var found []Finding
	switch namespace, err := os.Readlink("/proc/self/ns/pid"); {
	case err != nil:
		return nil, fmt.Errorf("find out which processes are seen: %w", err)
	case namespace != firstNamespace:
		found = append(found, Finding{KindProcess,
			"only the processes of this container are seen, and others may write to it: run ssdprobe on the host, or in a pod with hostPID"})
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		dir := filepath.Dir(filepath.Dir(link))
		if filepath.Base(dir) == fmt.Sprint(os.Getpid()) {
			continue
		}
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, "/") {
			continue // ended meanwhile, or no file
		}
		name := n.node(link)
		if name == "" || !writes(dir, filepath.Base(link)) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue // ended meanwhile
		}
		f := Finding{KindProcess, fmt.Sprintf("process %s (%s) has /dev/%s open for writing", filepath.Base(dir), strings.TrimSpace(string(command)), name)}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	return found, nil
}

// writes reports whether a descriptor of another process is open for writing.
func writes(dir, fd string) bool {
	info, err := os.ReadFile(filepath.Join(dir, "fdinfo", fd))
	if err != nil {
		return false // closed meanwhile
	}
	var position, flags int
	if _, err := fmt.Sscanf(string(info), "pos:\t%d\nflags:\t%o", &position, &flags); err != nil {
		return true // rather once too often
	}
	return flags&unix.O_ACCMODE != unix.O_RDONLY
}
