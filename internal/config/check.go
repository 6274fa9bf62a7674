package config

import (
	"cmp"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const wantPath = "a path that begins with /"

// Validate returns everything that is wrong with the configuration as Problems
// (without lines), nil when nothing is.
func (c Config) Validate() error {
	var f findings
	c.check(&f)
	return f.err()
}

// check looks at everything that has no problem yet.
func (c Config) check(f *findings) {
	printable(f, "node", c.Node)
	absolute(f, "state_dir", c.StateDir, true)
	absolute(f, "lock_dir", c.LockDir, true)
	absolute(f, "host_root", c.HostRoot, false)
	c.checkListen(f)
	atLeast(f, "discovery_interval", c.DiscoveryInterval, time.Second, FormatDuration)
	within(f, "rounds_at_once", c.RoundsAtOnce, 1, 64, formatCount)
	for i, r := range c.Devices.Include {
		r.check(f, item("devices.include", i))
	}
	for i, r := range c.Devices.Exclude {
		r.check(f, item("devices.exclude", i))
	}
	c.checkProbes(f)
	c.checkFiles(f)
	c.checkRuns(f)
	c.Fleet.check(f)
	atLeast(f, "fill_rate", c.FillBytesPerSecond, 1<<20, FormatSize)

	within(f, "admission.max_utilisation", c.Admission.MaxUtilisation, 0, 1, FormatRatio)
	atLeast(f, "admission.max_in_flight", c.Admission.MaxInFlight, 0, formatCount)
	within(f, "admission.max_io_pressure", c.Admission.MaxIOPressure, 0, 1, FormatRatio)
	within(f, "admission.max_cpu_wait", c.Admission.MaxCPUWait, 0, 1, FormatRatio)
	atLeast(f, "admission.write_budget_per_day", c.Admission.WriteBytesPerDay, 0, FormatSize)

	atLeast(f, "drift.window", c.Drift.Window, 30*time.Second, FormatDuration)
	within(f, "drift.baseline_rounds", c.Drift.BaselineRounds, 10, 100_000, formatCount)
	within(f, "drift.threshold", c.Drift.Threshold, 0.01, 10, FormatRatio)
	within(f, "drift.smallest_effect", c.Drift.SmallestEffect, 0.01, 1, FormatRatio)
	within(f, "drift.false_alarms_per_device_year", c.Drift.FalseAlarmsPerDeviceYear, 0.001, 100, formatNumber)
	checkSheets(f, c.Drift.DataSheets)

	atLeast(f, "health.interval", c.Health.Interval, time.Second, FormatDuration)
}

func (c Config) checkListen(f *findings) {
	const want = "host:port or :port, e.g. 127.0.0.1:10040, [::1]:10040, :10040"
	if len(c.Listen) == 0 {
		f.need(false, Problem{Field: "listen", Wrong: "has no address", Want: want})
	}
	addresses := unique{}
	for i, a := range c.Listen {
		field := item("listen", i)
		_, port, err := net.SplitHostPort(a)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		f.need(err == nil, notAt(field, "a listen address", a, want))
		addresses.check(f, field, a, a)
	}
}

func (r Rule) check(f *findings, field string) {
	f.need(r != Rule{} || f.partly[field], Problem{
		Field: field, Wrong: "is an empty rule",
		Want: "at least one of name, id, model, by_id, transport, min_size, max_size",
	})
	glob := func(key, pattern string) {
		printable(f, join(field, key), pattern)
		_, err := path.Match(pattern, "")
		f.need(err == nil, notAt(join(field, key), "a glob", pattern, "a pattern of *, ? and [a-z], e.g. nvme*n1"))
	}
	glob("name", r.Name)
	glob("id", r.ID)
	glob("model", r.Model)
	glob("by_id", r.ByID)
	if r.Transport != "" {
		oneOf(f, join(field, "transport"), "a transport", r.Transport, record.Transports()...)
	}
	low, high := join(field, "min_size"), join(field, "max_size")
	atLeast(f, low, r.MinSizeBytes, 0, FormatSize)
	atLeast(f, high, r.MaxSizeBytes, 0, FormatSize)
	if f.sound(low, high) && r.MaxSizeBytes > 0 {
		f.need(r.MaxSizeBytes >= r.MinSizeBytes, Problem{
			Field: high, Value: FormatSize(r.MaxSizeBytes), Wrong: "is below min_size", Want: FormatSize(r.MinSizeBytes) + " or more",
		})
	}
}

func (c Config) checkFiles(f *findings) {
	var largest record.Probe // the probe on files with the largest blocks
	for i, p := range c.Probes {
		if f.sound(item("probes", i)+".block_size") && p.RunsOn(true) && p.BlockBytes > largest.BlockBytes {
			largest = p
		}
	}
	paths := unique{}
	for i, file := range c.Files {
		at, size := item("files", i)+".path", item("files", i)+".size"
		f.need(file.Path != "", Problem{Field: at, Wrong: "is missing", Want: wantPath})
		absolute(f, at, file.Path, false)
		for _, root := range []string{"/dev", "/proc", "/sys"} {
			f.need(file.Path != root && !strings.HasPrefix(file.Path, root+"/"), Problem{
				Field: at, Value: file.Path, Wrong: "is not on a filesystem of a drive",
				Want: "a file or directory on one: block devices are chosen under devices",
			})
		}
		paths.check(f, at, filepath.Clean(file.Path), file.Path)
		// Below it, package target makes no probe file.
		atLeast(f, size, file.SizeBytes, 16<<20, FormatSize)
		f.need(file.SizeBytes >= 2*largest.BlockBytes, Problem{
			Field: size, Value: FormatSize(file.SizeBytes), Wrong: "holds less than two blocks of probe " + largest.Name,
			Want: FormatSize(2*largest.BlockBytes) + " or more",
		})
	}
}

func within[T cmp.Ordered](f *findings, field string, v, low, high T, format func(T) string) {
	f.need(v >= low && v <= high, Problem{
		Field: field, Value: format(v), Wrong: "is out of range", Want: format(low) + " to " + format(high),
	})
}

func atLeast[T cmp.Ordered](f *findings, field string, v, low T, format func(T) string) {
	f.need(v >= low, Problem{Field: field, Value: format(v), Wrong: "is too small", Want: format(low) + " or more"})
}

func oneOf[T ~string](f *findings, field, noun string, v T, choices ...T) {
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	f.need(slices.Contains(choices, v), notAt(field, noun, string(v), "one of "+strings.Join(words, ", ")))
}

func printable(f *findings, field, v string) {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	f.need(utf8.ValidString(v) && !strings.ContainsFunc(v, odd), Problem{
		Field: field, Value: v, Wrong: "has characters that cannot be shown", Want: "letters, digits, signs and spaces",
	})
}

func absolute(f *findings, field, v string, mayBeEmpty bool) {
	if v == "" && mayBeEmpty {
		return
	}
	printable(f, field, v)
	f.need(filepath.IsAbs(v), notAt(field, "an absolute path", v, wantPath))
}

func notAt(field, noun, value, want string) Problem {
	p := notA(noun, value, want)
	p.Field = field
	return p
}

// unique holds values that must not be given twice, and the field of each.
type unique map[string]string

// check compares by key and shows the value as it was given.
func (u unique) check(f *findings, field, key, given string) {
	if before, again := u[key]; again {
		f.need(false, Problem{Field: field, Value: given, Wrong: "is the same as " + before, Want: "it once"})
		return
	}
	u[key] = field
}
