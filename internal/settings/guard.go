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
// asked again for two minutes, of which tell gets a line, and one when it is done.
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
// restored yet is tried again, and tell gets a line about it, and one when it is done.
func (o Options) restoreLeft(id string, tell io.Writer) (all []string, err error) {
	var notes error
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(tell, format+"\n", args...) } // who listened may be gone
	for t := (tries{begun: time.Now()}); ; {
		found, err := o.Store.Load(kindJournal, id, new(journal))
		if err != nil { // a damaged one is set aside, so nobody else would tell of it
			return all, errors.Join(fmt.Errorf("restore settings of %s: %w", id, err), notes)
		}
		if found {
			var restored []string
			restored, err = o.locked(id, func() ([]string, error) {
				restored, err := o.restore(id)
				notes = errors.Join(notes, o.noteRestored(id, restored))
				return restored, err
			})
			all = append(all, restored...)
		}
		now := time.Now()
		switch {
		case err == nil:
			if t.told {
				say("settings of %s are as before", id)
			}
			return all, notes
		case errors.Is(err, store.ErrNewer):
			return all, errors.Join(err, notes)
		case t.over(err, now):
			err = fmt.Errorf("%w; given up after %s, the next start of ssdprobe tries again", err, units.Span(now.Sub(t.begun)))
			return all, errors.Join(err, notes)
		case errors.Is(err, store.ErrLocked):
			<-time.After(lockLook)
			continue
		case !t.told:
			t.told = true
			say("%v; trying again for %s", err, units.Span(restorePatience))
		}
		<-time.After(restoreLook)
	}
}

// tries are those of restoreLeft.
type tries struct {
	begun  time.Time
	locked time.Time // since when another process has the lock; zero while none has
	told   bool      // that it is tried again
}

// over reports whether an error now is the last one: after restorePatience, or when another
// process has had the lock for lockPatience, unless it was said that it is tried for longer.
func (t *tries) over(err error, now time.Time) bool {
	spent := now.Sub(t.begun) > restorePatience
	if !errors.Is(err, store.ErrLocked) {
		t.locked = time.Time{}
		return spent
	}
	if t.locked.IsZero() {
		t.locked = now
	}
	return now.Sub(t.locked) > lockPatience && (spent || !t.told)
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
