package daemon

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// fallbackDir is the directory, in the state directory, of the probe file that is made when nothing else may be
	// watched.
	fallbackDir = "probe"
	// fallbackBytes is the size of that file.
	fallbackBytes = 1 << 30
)

// fallback says how the daemon copes when none of the selected targets may be watched.
type fallback struct {
	used bool
	// warning is a warning about the node; the zero Warning when there is something to watch.
	warning record.Warning
}

// FallbackPath returns the directory of the probe file that is measured when nothing else may be.
func FallbackPath(c config.Config) string { return filepath.Join(c.StateDir, fallbackDir) }

// fallBack returns the file in the state directory if it has to be measured because nothing else may be, and records
// the decision. It decides nothing when the host could not be examined, and begins nothing while a device hangs of which
// nothing is known: that may be one to watch.
func (d *Daemon) fallBack(c config.Config, seen scan, answers []answer) (candidate, bool) {
	if !seen.complete {
		return candidate{}, false
	}
	var now fallback
	nothing := !slices.ContainsFunc(answers, func(a answer) bool { return a.denied == "" })
	path := FallbackPath(c)
	d.mu.Lock()
	before := d.fellBack
	d.mu.Unlock()
	switch {
	case nothing && seen.unidentified && (before == nil || !before.used):
		return candidate{}, false
	case nothing && c.FallbackFile:
		now = fallback{true, record.Warning{Code: record.WarnFallback, Text: FallbackText(path)}}
	case nothing:
		now.warning = record.Warning{
			Code: record.WarnNothingWatched,
			Text: "nothing is watched: no device is both selected and readable, files is empty and fallback_file is false; devices that appear are watched",
		}
	}
	d.mu.Lock()
	d.fellBack = &now
	d.mu.Unlock()
	if before == nil {
		before = &fallback{}
	}
	switch {
	case now.warning != before.warning && now.used:
		d.shared.log.Warn("the fallback file is used", "warning", now.warning.Text)
	case now.warning != before.warning && now.warning.Text != "":
		d.shared.log.Warn("there is nothing to watch", "warning", now.warning.Text)
	case before.used && !now.used:
		d.shared.log.Info("the fallback file is no longer used, and may be removed", "path", path)
	}
	if !now.used {
		return candidate{}, false
	}
	return fileCandidate(c, seen.mounted, config.File{Path: path, SizeBytes: fallbackBytes}), true
}

// FallbackText returns a text that says that the fallback file is used, and how to turn that off.
func FallbackText(path string) string {
	return fmt.Sprintf("no device is both selected and readable, and files is empty: a probe file of %s is made in %s and measured instead, "+
		"with durable writes; fallback_file: false in the configuration switches that off", config.FormatSize(fallbackBytes), path)
}
