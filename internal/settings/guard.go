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

// kindRestored is the kind of the values in which Guard notes what it has restored, until
// the next start of ssdprobe reports it.
const kindRestored = "settings-restored"

const (
	// lockPatience is how long the lock of a dead process may remain held. The kernel
	// releases it some milliseconds after it closes the pipe, or later if threads still wait
	// for a drive. A longer hold means that another process has the lock and restores first.
	lockPatience = time.Minute
	lockLook     = 10 * time.Millisecond
	// restorePatience is how long a device may take until its settings can be restored. A
	// controller that resets is unavailable for seconds, or for a minute if its firmware
	// hangs first. Guard retries at intervals of restoreLook.
	restorePatience = 2 * time.Minute
	restoreLook     = time.Second
)

// Guard restores the settings of a device when the process that changes them has ended: that
// ends alive, a pipe to which nobody writes. It is the body of the process that
// Options.Restorer starts. It writes to ready when it is ready, and from then on ignores
// SIGINT, SIGTERM and SIGHUP. It returns what it restored, one sentence per setting, or
// nothing if the process has restored the settings itself. If a device refuses, for example
// while its controller resets, Guard retries for two minutes; it writes one line about that
// to tell, and one on success.
func Guard(o Options, id string, alive io.Reader, ready, tell io.Writer) ([]string, error) {
	// SIGPIPE too: its standard error may have ended with the process.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	// A different name protects it from a command that kills all processes called ssdprobe.
	if err := os.WriteFile("/proc/self/comm", []byte("restore-settings"), 0); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(ready, readyLine); err != nil {
		return nil, fmt.Errorf("guard the settings of %s: %w", id, err)
	}
	_, err := io.Copy(io.Discard, alive) // an error also means the end
	restored, restoreErr := o.restoreLeft(id, tell)
	return restored, errors.Join(err, restoreErr)
}

// restoreLeft restores the settings left by a process that has ended or is about to. It
// retries what cannot be restored yet, and writes one line about that to tell, and one on
// success.
func (o Options) restoreLeft(id string, tell io.Writer) (all []string, err error) {
	var notes error
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(tell, format+"\n", args...) } // the reader may be gone
	for t := (tries{begun: time.Now()}); ; {
		found, err := o.Store.Load(kindJournal, id, new(journal))
		if err != nil { // a damaged one is set aside, so nobody else would report it
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

// tries is the progress of restoreLeft.
type tries struct {
	begun  time.Time
	locked time.Time // since when another process holds the lock; zero if none does
	told   bool      // that it retries was reported
}

// over reports whether to give up after err: after restorePatience, or after another process
// has held the lock for lockPatience, unless a longer time was announced.
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

// noteRestored stores what was restored, for the next start to report. The caller holds the
// lock.
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

// takeNotes returns and removes the notes on what was restored of a device. The caller holds
// the lock.
func (o Options) takeNotes(id string) ([]string, error) {
	var texts []string
	found, err := o.Store.Load(kindRestored, id, &texts)
	if err != nil || !found {
		return nil, err
	}
	return texts, o.Store.Remove(kindRestored, id)
}
