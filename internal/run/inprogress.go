package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

var (
	// ErrElsewhere says that a run is in another container, where its process has another number.
	ErrElsewhere = errors.New("it runs in another container or namespace of processes: stop it there")
	// ErrDoesNotEnd says that a run that was asked to end has not.
	ErrDoesNotEnd = errors.New("it does not end; kill -9 ends it and leaves its files behind")
)

// Holder is the process of a run in progress, as the run noted it in the lock of its device.
type Holder struct {
	PID int `json:"pid"`
	// Start is when the process started, in clock ticks since the machine did: field 22 of
	// /proc/PID/stat. Numbers of processes are used again.
	Start uint64 `json:"start"`
	// Namespace is that of the process's number: "pid:[4026531836]".
	Namespace string `json:"pid_namespace"`
	// Targets are the paths that it runs on.
	Targets []string `json:"targets"`
}

// self is this process, running on a target.
func self(path string) (Holder, error) {
	h := Holder{PID: os.Getpid(), Targets: []string{path}}
	var err error
	if h.Namespace, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		return h, err
	}
	h.Start, err = startOf(h.PID)
	return h, err
}

// startOf reads when a process started.
func startOf(pid int) (uint64, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from field 3 on: the name before may hold anything
	if len(fields) < 20 {
		return 0, fmt.Errorf("read %s: too few fields", path)
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

// InProgress lists the runs by hand that hold the lock of a device, each process once. Who
// can write into a lock directory can have no process stopped but his own: a note counts
// when the process belongs to the owner of its file.
func InProgress(lockDir string) ([]Holder, error) {
	notes, err := store.Notes[Holder](lockDir)
	if err != nil {
		return nil, err
	}
	here, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, err
	}
	var all []Holder
	for _, noted := range notes {
		note := noted.Holder
		if note.PID <= 0 {
			continue
		}
		if note.Namespace == here {
			if start, err := startOf(note.PID); err != nil || start != note.Start {
				continue // it was killed
			}
			var process unix.Stat_t
			if err := unix.Stat(fmt.Sprintf("/proc/%d", note.PID), &process); err != nil || process.Uid != noted.UID {
				continue
			}
		}
		same := func(h Holder) bool { return h.PID == note.PID && h.Namespace == note.Namespace }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Targets = append(all[i].Targets, note.Targets...)
			continue
		}
		all = append(all, note)
	}
	slices.SortFunc(all, func(a, b Holder) int { return a.PID - b.PID })
	return all, nil
}

// String says "the run on /mnt/data (process 4711)".
func (h Holder) String() string {
	return fmt.Sprintf("the run on %s (process %d)", strings.Join(h.Targets, ", "), h.PID)
}

// Stop asks the run to end, as Ctrl-C does, and returns when it has. Errors: ErrElsewhere;
// ErrDoesNotEnd after that patience; os.ErrPermission.
func (h Holder) Stop(ctx context.Context, patience time.Duration) error {
	fail := func(err error) error { return fmt.Errorf("stop %s: %w", h, err) }
	if here, err := os.Readlink("/proc/self/ns/pid"); err != nil || here != h.Namespace {
		return fail(errors.Join(err, ErrElsewhere))
	}
	// Opened first and looked at then: what is open cannot become another process.
	fd, err := unix.PidfdOpen(h.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil // it has just ended
	} else if err != nil {
		return fail(err)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	if start, err := startOf(h.PID); err != nil || start != h.Start {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return nil
		}
		return fail(err)
	}
	const look = 100 * time.Millisecond
	for waited := time.Duration(0); waited < patience; waited += look {
		events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(events, int(look.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return fail(err)
		} else if n > 0 {
			return nil
		}
		if ctx.Err() != nil {
			return fail(context.Cause(ctx))
		}
	}
	return fail(ErrDoesNotEnd)
}
