package safety

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// firstNamespace is the PID namespace that contains all processes of the host: PROC_PID_INIT_INO of <linux/proc_ns.h>.
const firstNamespace = "pid:[4026531836]"

// processes finds other processes that may write to the device: by a descriptor, by a shared mapping, or by a file that
// is registered with io_uring. A database may write to a raw device without holding it exclusively. If some of the
// host's processes cannot be seen, that is therefore a finding.
func (s subject) processes(ctx context.Context, l *look) error {
	switch namespace, err := os.Readlink("/proc/self/ns/pid"); {
	case err != nil:
		return fmt.Errorf("find out which processes are seen: %w", err)
	case namespace != firstNamespace:
		l.add(Finding{Kind: KindProcess, Text: "only the processes of this container are seen, and others may write to it: run ssdprobe on the host, or in a pod with hostPID"})
	}
	sees, err := seesProcesses()
	if err != nil {
		return err
	}
	if !sees {
		l.add(Finding{Kind: KindProcess, Text: "cannot see what other processes have open, and they may write to it: run ssdprobe as root, with CAP_SYS_PTRACE"})
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if err := l.ask(ctx, processText(pid), func() ([]Finding, error) { return s.process(pid) }); err != nil {
			return err
		}
	}
	return nil
}

// seesProcesses reports whether this process can see what others have open. hidepid hides the processes of other users,
// and without CAP_SYS_PTRACE root can list descriptors but not follow them.
func seesProcesses() (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return false, fmt.Errorf("find out which processes are seen: %w", err)
	}
	_, err := os.ReadDir("/proc/1/fd")
	return err == nil && sets[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0, nil
}

// process checks one process. If it ends meanwhile, what can no longer be read does not count.
func (s subject) process(pid int) ([]Finding, error) {
	var found []Finding
	add := func(format, node string) {
		f := Finding{Kind: KindProcess, Text: fmt.Sprintf("%s "+format, processText(pid), node)}
		if node != "" && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, task := range tables(pid) {
		fds, err := os.ReadDir(filepath.Join(task, "fd"))
		if err != nil {
			continue // of another user, or ended
		}
		for _, fd := range fds {
			link := filepath.Join(task, "fd", fd.Name())
			target, err := os.Readlink(link)
			switch {
			case err != nil: // closed meanwhile
			case target == "anon_inode:[io_uring]":
				s.registered(task, fd.Name(), add)
			case filepath.IsAbs(target):
				node, err := s.at(link)
				if unclear(err) {
					add("has %s open, which cannot be examined: end it", target)
				} else if node != "" && writes(task, fd.Name()) {
					add("has %s open for writing", node)
				}
			}
		}
		s.mapped(task, add)
	}
	return found, nil
}

// processText names a process: "process 123 (fio)".
func processText(pid int) string {
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // fails if it ended meanwhile
	return fmt.Sprintf("process %d (%s)", pid, bytes.TrimSpace(command))
}

// unclear reports whether an error leaves open what a file is. Errors for what is gone or another user's do not count.
func unclear(err error) bool {
	return err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) && !errors.Is(err, unix.ESRCH)
}

// tables returns the directories of those threads of a process that have their own descriptor table: the first thread,
// and threads that were created without sharing it or whose first thread has ended.
func tables(pid int) []string {
	const files = 2 // KCMP_FILES of <linux/kcmp.h>
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // ended
	}
	var dirs []string
	var owners []int
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		shared := slices.ContainsFunc(owners, func(owner int) bool {
			differs, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(owner), uintptr(tid), files, 0, 0, 0)
			return errno == 0 && differs == 0
		})
		if !shared {
			owners = append(owners, tid)
			dirs = append(dirs, fmt.Sprintf("/proc/%d/task/%d", pid, tid))
		}
	}
	return dirs
}

// writes reports whether a descriptor of another process is open for writing.
func writes(task, fd string) bool {
	info, err := os.ReadFile(filepath.Join(task, "fdinfo", fd))
	if err != nil {
		return false // closed meanwhile
	}
	var position, flags int
	if _, err := fmt.Sscanf(string(info), "pos:\t%d\nflags:\t%o", &position, &flags); err != nil {
		return true // assume the worst
	}
	return flags&unix.O_ACCMODE != unix.O_RDONLY
}

// mapped finds shared mappings of files opened for writing: they can write even after the descriptor is closed.
func (s subject) mapped(task string, add func(format, node string)) {
	maps, err := os.ReadFile(filepath.Join(task, "maps"))
	if err != nil {
		return // of another user, or ended
	}
	files := filepath.Join(filepath.Dir(filepath.Dir(task)), "map_files")
	for line := range strings.Lines(string(maps)) {
		// address perms offset device inode path, see proc_pid_maps(5)
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasSuffix(fields[1], "s") || !filepath.IsAbs(fields[5]) {
			continue
		}
		link := filepath.Join(files, fields[0])
		var st unix.Stat_t
		if err := unix.Lstat(link, &st); err == nil && st.Mode&0o200 == 0 {
			continue // the mode of the link shows how the file was opened
		}
		switch node, err := s.at(link); {
		case unclear(err):
			add("has mapped %s, which cannot be examined: end it", fields[5])
		case err != nil:
			// A process whose first thread has ended has no links, and following them takes CAP_SYS_ADMIN or
			// CAP_CHECKPOINT_RESTORE.
			name := strings.TrimSuffix(strings.Join(fields[5:], " "), " (deleted)")
			if node, err = s.at(name); err != nil {
				node = s.named(name)
			}
			add("may write to %s through a shared mapping", node)
		default:
			add("has mapped %s for writing", node)
		}
	}
}

// registered finds files that are registered with an io_uring, which needs no descriptor for them. The kernel lists
// only their names, in Linux 6.1 without the directories, and does not say how they were opened.
func (s subject) registered(task, fd string, add func(format, node string)) {
	const often = 1000
	for range often {
		info, err := os.ReadFile(filepath.Join(task, "fdinfo", fd))
		if err != nil {
			return // closed meanwhile
		}
		names, complete := registeredFiles(info)
		if !complete {
			continue // while the ring is in use, its files may be missing
		}
		for _, name := range names {
			add("may write to %s through io_uring, with which it is registered", s.named(name))
		}
		return
	}
	// There is a table, but it is empty.
}

// registeredFiles reads the names of registered files from the fdinfo of an io_uring. complete is false if names may be
// missing.
func registeredFiles(info []byte) (names []string, complete bool) {
	wanted := -1
	for lines := bufio.NewScanner(bytes.NewReader(info)); lines.Scan(); {
		key, value, found := strings.Cut(lines.Text(), ":")
		switch count, err := strconv.Atoi(strings.TrimSpace(value)); {
		case !found:
		case key == "UserFiles" && err == nil:
			wanted = count
		case key == "UserBufs":
			return names, wanted == 0 || len(names) > 0
		case wanted > 0:
			names = append(names, unescape(strings.TrimSpace(value)))
		}
	}
	return names, false
}

// named returns the part of the subject that has the given name, with or without its directory; "" if none does. A name
// below /dev is looked up.
func (s subject) named(name string) string {
	if strings.HasPrefix(name, "/dev/") {
		node, _ := s.at(name) // fails if the name is outdated
		return node
	}
	for _, nodes := range []map[string]string{s.blocks, s.chars} {
		for _, node := range nodes {
			if filepath.Base(name) == filepath.Base(node) {
				return node
			}
		}
	}
	if s.backing != nil && (name == s.backing.path || name == filepath.Base(s.backing.path)) {
		return s.backingText()
	}
	return ""
}
