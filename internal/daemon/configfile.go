package daemon

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// configTimeout is how long a read of the configuration file may take.
const configTimeout = 5 * time.Second

// sum is the checksum of a file's content.
type sum = [sha256.Size]byte

// configFile reads the configuration file again, either on request or to notice that it has changed without a
// request. In Kubernetes there is no request: the kubelet updates a ConfigMap by swapping a symbolic link.
type configFile struct {
	path    string
	parse   func(config.Source) (config.Config, error)
	hangup  <-chan os.Signal
	reloads chan reload // received by discovery
	log     *slog.Logger
	guard   guard.Guard
	// last is the content at the last check.
	last sum

	mu     sync.Mutex
	loaded sum
	// told is what was last logged: the checksum of a content, or that the file cannot be read; empty for nothing.
	told    string
	changed *bool // nil when it is not known
	warning record.Warning
}

func newConfigFile(o Options) *configFile {
	f := &configFile{
		parse: o.Parse, hangup: o.Reload, reloads: make(chan reload), log: o.Log,
		path: o.Source.Path, loaded: sha256.Sum256(o.Source.Data),
	}
	f.last = f.loaded
	if f.watched(o.Source) {
		f.changed = new(bool)
	}
	return f
}

// watched reports whether the file can be read repeatedly.
func (f *configFile) watched(s config.Source) bool { return f.path != "" && s.Regular }

// read reads the file. Without a file, the source is empty.
func (f *configFile) read(ctx context.Context) (config.Source, error) {
	if f.path == "" {
		return config.Source{}, nil
	}
	return guard.Do(ctx, &f.guard, configTimeout, func(context.Context) (config.Source, error) { return config.Read(f.path) })
}

// followFile loads a new configuration on request, and checks periodically whether the file has changed, until ctx
// ends.
func (d *Daemon) followFile(ctx context.Context) error {
	f, looked := d.file, time.Now()
	for watched := f.changed != nil; ctx.Err() == nil; {
		next := looked.Add(d.configuration().DiscoveryInterval)
		select {
		case <-ctx.Done():
		case <-f.hangup:
			d.supervisor.reloading()
			source, err := f.read(ctx)
			f.hand(ctx, source, err)
		case <-time.After(min(time.Until(next), calendarLook)): // what was just loaded may only now be in force
			if time.Now().Before(next) {
				continue
			}
			looked = time.Now()
			if watched {
				d.lookAtFile(ctx)
			}
		}
	}
	return nil
}

// hand passes the content of the file to discovery.
func (f *configFile) hand(ctx context.Context, source config.Source, err error) {
	r := reload{err: err}
	if err == nil {
		r.sum = sha256.Sum256(source.Data)
		r.config, r.err = f.parse(source)
	}
	select {
	case <-ctx.Done():
	case f.reloads <- r:
	}
}

// lookAtFile reports when the file differs from the configuration in force, or loads it if the configuration says so.
// A file that may still be written to is left alone: its content must be the same at two checks in a row.
func (d *Daemon) lookAtFile(ctx context.Context) {
	f, now, start := d.file, d.configuration(), time.Now()
	source, err := f.read(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.tell("unreadable", nil, fmt.Sprintf("the configuration file %s cannot be read; what was loaded stays in force: %v", f.path, err))
		return
	}
	seen := sha256.Sum256(source.Data)
	settled := seen == f.last
	f.last = seen
	switch {
	case f.isLoaded(seen):
		f.tell("", new(false), "")
		d.nothingRefused(start)
	case !settled:
	case now.ReloadOnChange && !f.wasTold(seen):
		f.log.Info("the configuration file has changed", "path", f.path, "modified", source.Modified)
		f.hand(ctx, source, nil)
	default:
		next, err := f.parse(source)
		if err == nil {
			err = restartNeeded(now, next)
		}
		f.tell(string(seen[:]), new(true), changedText(source, err))
	}
}

// changedText says that the file was changed, and what to do about it.
func changedText(s config.Source, refused error) string {
	text := fmt.Sprintf("the configuration file %s was changed at %s and is not loaded", s.Path, s.Modified.UTC().Format(time.RFC3339))
	if refused != nil {
		return text + "; it would be refused: " + strings.Join(strings.Fields(refused.Error()), " ")
	}
	return text + ": load it with systemctl reload ssdprobe, with SIGHUP, or in Kubernetes with kubectl rollout restart"
}

// tell records how the file compares with the loaded configuration, and logs it when that is new.
func (f *configFile) tell(what string, changed *bool, text string) {
	f.mu.Lock()
	news := f.told != what
	f.told, f.changed, f.warning = what, changed, record.Warning{Code: record.WarnConfigFile, Text: text}
	f.mu.Unlock()
	switch {
	case news && text != "":
		f.log.Warn("configuration file", "warning", text)
	case news:
		f.log.Info("the configuration file holds what is loaded again", "path", f.path)
	}
}

func (f *configFile) isLoaded(s sum) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s == f.loaded
}

func (f *configFile) wasTold(s sum) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(s[:]) == f.told
}

// taken records that a content was loaded or refused; the caller has logged it. The zero sum stands for a file that
// could not be read.
func (f *configFile) taken(s sum, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.told = string(s[:])
		if f.changed != nil && s != (sum{}) {
			f.changed = new(true)
		}
		return
	}
	f.loaded, f.told, f.warning = s, "", record.Warning{}
	if f.changed != nil {
		f.changed = new(bool)
	}
}

// fill adds the comparison of the file with the configuration in force to a snapshot.
func (f *configFile) fill(s *record.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.ConfigChanged = f.changed
	if f.warning.Text != "" {
		s.Warnings = append(s.Warnings, f.warning)
	}
}
