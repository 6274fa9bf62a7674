package daemon

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// reload is a new configuration, or the error that prevented one.
type reload struct {
	config config.Config
	sum    sum // of the file
	err    error
}

// take puts a new configuration in force, or reports why the old one remains.
func (d *Daemon) take(r reload) {
	start := time.Now()
	err := r.err
	if err == nil {
		err = restartNeeded(d.configuration(), r.config)
	}
	d.file.taken(r.sum, err)
	if err == nil {
		d.shared.judging.look(func() { d.shared.judging.node.Configure(r.config.Drift.Settings) })
		d.flight.configure(r.config.Recorder)
		d.tellSize(r.config.Recorder)
		d.tellDoubts(r.config)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reloaded = collected(record.CollectorConfiguration, "", start, err)
	if err != nil {
		d.shared.log.Error("the new configuration is refused; the old one stays", "err", err)
		return
	}
	var changed []string
	for _, difference := range r.config.Since(d.config) {
		changed = append(changed, difference.String())
	}
	d.config = r.config
	d.shared.log.Info("configuration reloaded", "changed", strings.Join(changed, ", "))
}

// tellDoubts logs what of a new configuration is probably not intended, as at the start.
func (d *Daemon) tellDoubts(c config.Config) {
	if d.doubts == nil {
		return
	}
	for _, warning := range d.doubts(c) {
		d.shared.log.Warn("configuration", "warning", warning)
	}
}

// nothingRefused ends the report of a reload that failed, once the file holds what is in force again: whoever took a
// wrong edit back has nothing left to load.
func (d *Daemon) nothingRefused(start time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.reloaded.Success {
		d.reloaded = collected(record.CollectorConfiguration, "", start, nil)
	}
}

// restartNeeded returns an error that names the changed keys that cannot change while the daemon runs.
func restartNeeded(before, after config.Config) error {
	var problems []error
	for _, key := range config.RestartNeeded(before, after) {
		problems = append(problems, fmt.Errorf("%s cannot change while the daemon runs: restart it", key))
	}
	return errors.Join(problems...)
}
