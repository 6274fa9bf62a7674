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
	// ErrElsewhere says that a run is in another container, where its process has a different id.
	ErrElsewhere = errors.New("it runs in another container or namespace of processes: stop it there")
	// ErrDoesNotEnd says that a run did not end although it was asked to.
	ErrDoesNotEnd = errors.New("it does not end; kill -9 ends it and leaves its files behind")
)

// Holder is the process of a run in progress, as noted in the lock of its device.
type Holder struct {
	// PID is 0 for a run that must not be stopped by a signal, because the daemon makes it.
	PID int `json:"pid"`
	// Start is when the process started, in clock ticks since the machine booted: field 22 of
	// /proc/PID/stat. It is needed because process ids are reused.
	Start uint64 `json:"start"`
	// Namespace is the PID namespace of the process id: "pid:[4026531836]".
	Namespace string `json:"pid_namespace"`
	// Targets are the paths on which it runs.
	Targets []string `json:"targets"`
	// Locks are the ids of the devices below them, whose locks it holds.
	Locks []string `json:"locks"`
}

// identify makes this process the holder, so that it can be stopped.
func (h *Holder) identify() (err error) {
	h.PID = os.Getpid()
	if h.Namespace, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		return err
	}
	h.Start, err = startOf(h.PID)
	return err
}

// startOf returns when a process started, in clock ticks since the machine booted.
func startOf(pid int) (uint64, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from field 3 on: the name before it may contain anything
	if len(fields) < 20 {
		return 0, fmt.Errorf("read %s: too few fields", path)
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

// InProgress lists the manually started runs that hold the lock of a device, each process once. A
// note counts only if the process belongs to the owner of its file: a user who can write to the
// lock directory can thus only have his own processes stopped.
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
				continue // the run was killed
			}
			var process unix.Stat_t
			if err := unix.Stat(fmt.Sprintf("/proc/%d", note.PID), &process); err != nil || process.Uid != noted.UID {
				continue
			}
		}
		same := func(h Holder) bool { return h.PID == note.PID && h.Namespace == note.Namespace }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Targets = append(all[i].Targets, note.Targets...)
			all[i].Locks = append(all[i].Locks, note.Locks...)
			continue
		}
		all = append(all, note)
	}
	slices.SortFunc(all, func(a, b Holder) int { return a.PID - b.PID })
	return all, nil
}

// String returns "the run on /mnt/data (process 4711)".
func (h Holder) String() string {
	return fmt.Sprintf("the run on %s (process %d)", strings.Join(h.Targets, ", "), h.PID)
}

// Stop asks the run to end, like Ctrl-C, and returns when it has ended. Errors: ErrElsewhere;
// ErrDoesNotEnd if it has not ended within patience; os.ErrPermission.
func (h Holder) Stop(ctx context.Context, patience time.Duration) error {
	fail := func(err error) error { return fmt.Errorf("stop %s: %w", h, err) }
	if here, err := os.Readlink("/proc/self/ns/pid"); err != nil || here != h.Namespace {
		return fail(errors.Join(err, ErrElsewhere))
	}
	// Open the process first and check it then: an open process cannot become another one.
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
