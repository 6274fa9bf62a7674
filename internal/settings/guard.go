package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// kindRestored is where the state directory keeps what Guard has restored, until a
// start of ssdprobe has told of it.
const kindRestored = "settings-restored"

const (
	// lockPatience is how long the lock of a process that is gone may be held on. The
	// kernel lets go of it some milliseconds after the pipe, with threads that wait for a
	// drive later. Whoever has it for longer is another process, which restores first.
	lockPatience = time.Minute
	lockLook     = 10 * time.Millisecond
	// restorePatience is how long a device may take until its settings can be restored: a
	// controller that resets is away for seconds, and for a minute where its firmware hangs
	// first. It is tried again every restoreLook.
	restorePatience = 2 * time.Minute
	restoreLook     = time.Second
)

// Guard restores the settings of a device when the process that changes them is gone:
// when alive, a pipe that nobody writes to, ends. It is what the process of
// Options.Restorer does. It says on ready that it is, ignores SIGINT, SIGTERM and SIGHUP
// from then on, and returns what it restored, a sentence each. That is nothing when the
// process has restored by itself. A device that refuses, as while its controller resets, is
// asked again for two minutes, of which tell gets a line.
func Guard(o Options, id string, alive io.Reader, ready, tell io.Writer) ([]string, error) {
	// SIGPIPE as well: its standard error may be gone with the process.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	// Who kills all processes called ssdprobe does not mean this one.
	if err := os.WriteFile("/proc/self/comm", []byte("restore-settings"), 0); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(ready, readyLine); err != nil {
		return nil, fmt.Errorf("guard the settings of %s: %w", id, err)
	}
	_, err := io.Copy(io.Discard, alive) // an error is the end of it, too
	restored, restoreErr := o.restoreLeft(id, tell)
	return restored, errors.Join(err, restoreErr)
}

// restoreLeft restores what a process has left that is gone, or about to be. What cannot be
// restored yet is tried again, and tell gets a line about it.
func (o Options) restoreLeft(id string, tell io.Writer) (all []string, err error) {
	begun := time.Now()
	for told := false; ; {
		found, err := o.Store.Load(kindJournal, id, new(journal))
		if err != nil { // a damaged one is set aside, so nobody else would tell of it
			return all, fmt.Errorf("restore settings of %s: %w", id, err)
		} else if !found {
			return all, nil
		}
		restored, err := o.locked(id, func() ([]string, error) {
			restored, err := o.restore(id)
			return restored, errors.Join(err, o.noteRestored(id, restored))
		})
		all = append(all, restored...)
		waited := time.Since(begun)
		switch {
		case err == nil, errors.Is(err, store.ErrNewer):
			return all, err
		case errors.Is(err, store.ErrLocked):
			if waited > lockPatience {
				return all, nil
			}
			<-time.After(lockLook)
			continue
		case waited > restorePatience:
			return all, fmt.Errorf("%w; given up after %s, the next start of ssdprobe tries again", err, units.Span(waited))
		case !told:
			told = true
			_, _ = fmt.Fprintf(tell, "%v; trying again for %s\n", err, units.Span(restorePatience)) // who listened may be gone
		}
		<-time.After(restoreLook)
	}
}

// noteRestored keeps for the next start what was restored. The caller holds the lock.
func (o Options) noteRestored(id string, restored []string) error {
	if len(restored) == 0 {
		return nil
	}
	var all []string
	_, err := o.Store.Load(kindRestored, id, &all)
	for _, text := range restored {
		all = append(all, fmt.Sprintf("%s, since %s", text, time.Now().Format(time.DateTime)))
	}
	return errors.Join(err, o.Store.Save(kindRestored, id, all))
}

// takeNotes returns what was restored of a device since it was last asked. The caller holds
// the lock.
func (o Options) takeNotes(id string) ([]string, error) {
	var texts []string
	found, err := o.Store.Load(kindRestored, id, &texts)
	if err != nil || !found {
		return nil, err
	}
	return texts, o.Store.Remove(kindRestored, id)
}
