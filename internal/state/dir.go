package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// The kinds of values in a state directory.
const (
	kindTargets      = "targets"
	kindRequests     = "requests"
	kindAnswers      = "answers"
	kindRuns         = "runs"
	kindRunBaselines = "run-baselines"
	kindDaemon       = "daemon"
	kindNode         = "node"
	kindRecordings   = "recordings"
	kindHistories    = "histories"
)

// SavedEvery is how often a daemon stores what it has learned, besides when it ends: a crash can lose no more than that.
const SavedEvery = 10 * time.Minute

// Dir is a state directory. Several goroutines may use it concurrently, for different values.
type Dir struct{ *store.Store }

// Open opens the state directory at path, and creates it if it does not exist. Errors: store.ErrUntrusted,
// and those of the filesystem.
func Open(path string) (Dir, error) {
	s, err := store.Open(path, schema())
	return Dir{s}, err
}

// Unwrap returns the value in the text of a state file: see store.Schema.
func Unwrap(text []byte) (data json.RawMessage, found bool, err error) { return schema().Unwrap(text) }

// lockName is the lock that a running daemon holds on its state directory.
const lockName = "daemon"

// ErrRunning says that another daemon uses the state directory.
var ErrRunning = errors.New("another ssdprobe daemon uses the state directory")

// Hold opens the state directory for a daemon, which must release the lock when it ends. Errors: those of Open,
// and ErrRunning.
func Hold(path string) (Dir, *store.Lock, error) {
	d, err := Open(path)
	if err != nil {
		return Dir{}, nil, err
	}
	lock, err := d.takeLock()
	if errors.Is(err, store.ErrLocked) {
		return Dir{}, nil, fmt.Errorf("%w %s; stop it, or give this one another --state-dir", ErrRunning, path)
	} else if err != nil {
		return Dir{}, nil, err
	}
	return d, lock, nil
}

// takeLock takes the lock that a running daemon holds. On a read-only filesystem that no daemon has used before it is the
// directory itself.
func (d Dir) takeLock() (*store.Lock, error) {
	lock, err := store.TakeLock(d.Dir(), lockName)
	if errors.Is(err, syscall.EROFS) {
		return store.TakeDirLock(d.Dir())
	}
	return lock, err
}

// all loads every value of a kind. The error joins what could not be read; damaged files are set aside.
func all[T any](d Dir, kind string) (values []T, err error) {
	err = d.LoadEach(kind, func() any { return new(T) }, func(v any) { values = append(values, *v.(*T)) }) //nolint:forcetypeassert // as newly made
	return values, err
}

// Announce stores the URLs of the directory's daemon, so that commands find it.
func (d Dir) Announce(urls []string) error { return d.Save(kindDaemon, "address", urls) }

// Announced returns the URLs of the daemon that uses the directory or used it last; empty if unknown.
func (d Dir) Announced() ([]string, error) {
	var urls []string
	_, err := d.Load(kindDaemon, "address", &urls)
	return urls, err
}

// Told returns the verdicts that events have reported to the cluster, keyed by target; the key "" is the host.
func (d Dir) Told() (map[string]record.ToldVerdict, error) {
	var told map[string]record.ToldVerdict
	_, err := d.Load(kindDaemon, "told", &told)
	return told, err
}

// SaveTold replaces what Told returns.
func (d Dir) SaveTold(told map[string]record.ToldVerdict) error {
	return d.Save(kindDaemon, "told", told)
}
