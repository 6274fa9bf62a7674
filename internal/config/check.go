package config

import (
	"path/filepath"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Validate returns all problems of the configuration as Problems (without lines), or nil when there are none.
func (c Config) Validate() error {
	var f findings
	c.check(&f)
	return f.err()
}

// check checks everything that has no problem yet: first each value, then the relations between values.
func (c Config) check(f *findings) {
	c.form().check("", f)
	addresses := unique{}
	for i, a := range c.Listen {
		addresses.check(f, item("listen", i), a, a)
	}
	for i, r := range c.Devices.Include {
		checkRule(f, r, item("devices.include", i))
	}
	for i, r := range c.Devices.Exclude {
		checkRule(f, r, item("devices.exclude", i))
	}
	for i, of := range c.Health.Devices {
		checkRule(f, of.Rule, item("health.devices", i))
	}
	c.checkProbes(f)
	c.checkFiles(f)
	for i, r := range c.Runs {
		r.check(f, item("runs", i))
	}
	for i, q := range c.QuietHours {
		q.check(f, item("quiet_hours", i))
	}
	c.Fleet.check(f)
	checkSheets(f, c.Drift.DataSheets)
}

func checkRule(f *findings, r device.Rule, field string) {
	f.need(r != device.Rule{} || f.partly[field], Problem{
		Field: field, Wrong: "is an empty rule",
		Want: "at least one of name, id, model, by_id, transport, min_size, max_size",
	})
	f.need(r.MaxSizeBytes == 0 || r.MaxSizeBytes >= r.MinSizeBytes, Problem{
		Field: join(field, "max_size"), Value: FormatSize(r.MaxSizeBytes), Wrong: "is below min_size", Want: FormatSize(r.MinSizeBytes) + " or more",
	}, join(field, "min_size"))
}

func (c Config) checkFiles(f *findings) {
	var largest record.Probe // the file probe with the largest blocks
	for i, p := range c.Probes {
		if f.sound(item("probes", i)+".block_size") && p.RunsOn(true) && p.BlockBytes > largest.BlockBytes {
			largest = p
		}
	}
	paths := unique{}
	for i, file := range c.Files {
		at, size := item("files", i)+".path", item("files", i)+".size"
		for _, root := range []string{"/dev", "/proc", "/sys"} {
			f.need(file.Path != root && !strings.HasPrefix(file.Path, root+"/"), Problem{
				Field: at, Value: file.Path, Wrong: "is not on a filesystem of a drive",
				Want: "a file or directory on such a filesystem; block devices belong under devices",
			})
		}
		paths.check(f, at, probeFileOf(file.Path), file.Path)
		f.need(file.SizeBytes >= 2*largest.BlockBytes, Problem{
			Field: size, Value: FormatSize(file.SizeBytes), Wrong: "holds less than two blocks of probe " + largest.Name,
			Want: FormatSize(2*largest.BlockBytes) + " or more",
		})
	}
}

// probeFileOf returns the same for a directory as for the probe file that is made in it: with two sizes, each of two targets
// would replace the file of the other for ever.
func probeFileOf(path string) string {
	if path = filepath.Clean(path); filepath.Base(path) == record.ProbeFileName {
		return filepath.Dir(path)
	}
	return path
}

// unique holds values that must not occur twice, with the field of each.
type unique map[string]string

// check compares by key and shows the value as it was given.
func (u unique) check(f *findings, field, key, given string) {
	if before, again := u[key]; again {
		f.need(false, Problem{Field: field, Value: given, Wrong: "is the same as " + before, Want: "it once"})
		return
	}
	u[key] = field
}
