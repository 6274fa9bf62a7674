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
)

// Guard restores the settings of a device when the process that changes them is gone:
// when alive, a pipe that nobody writes to, ends. It is what the process of
// Options.Restorer does. It says on ready that it is, ignores SIGINT, SIGTERM and SIGHUP
// from then on, and returns what it restored, a sentence each. That is nothing when the
// process has restored by itself.
func Guard(o Options, id string, alive io.Reader, ready io.Writer) ([]string, error) {
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
	restored, restoreErr := o.restoreLeft(id)
	return restored, errors.Join(err, restoreErr, o.noteRestored(id, restored))
}

// restoreLeft restores what a process has left that is gone, or about to be.
func (o Options) restoreLeft(id string) ([]string, error) {
	for last := time.Now().Add(lockPatience); ; {
		found, err := o.Store.Load(kindJournal, id, new(journal))
		if err != nil { // a damaged one is set aside, so nobody else would tell of it
			return nil, fmt.Errorf("restore settings of %s: %w", id, err)
		} else if !found {
			return nil, nil
		}
		restored, err := o.restoreOf(id)
		if !errors.Is(err, store.ErrLocked) {
			return restored, err
		}
		if time.Now().After(last) {
			return nil, nil
		}
		<-time.After(lockLook)
	}
}

// noteRestored keeps for the next start what was restored.
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

// takeNotes returns what was restored since it was last asked.
func (o Options) takeNotes() ([]string, error) {
	ids, err := o.Store.Names(kindRestored)
	problems := []error{err}
	var all []string
	for _, id := range ids {
		var texts []string
		_, err := o.Store.Load(kindRestored, id, &texts)
		problems = append(problems, err, o.Store.Remove(kindRestored, id))
		all = append(all, texts...)
	}
	return all, errors.Join(problems...)
}
