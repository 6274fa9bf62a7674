package fio

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is a well-known option of one Options value.
type field interface {
	named(key string) bool
	isSet() bool
	clear()
	// copyFrom copies the value of the same field of other Options.
	copyFrom(other field)
	// line returns "key=value", or an error if a job file cannot express the value.
	line() (string, error)
	// parse sets the field to the value of a line. It reports false if the field's type cannot hold the value.
	parse(value string, bare bool, u units) bool
}

// units says how to read the numbers of a job file.
type units struct {
	// plain rejects suffixes, because the file sets kb_base, which changes the meaning of "4k".
	plain bool
}

// fields returns the well-known options in the order in which they are rendered.
func (o *Options) fields() []field {
	return []field{
		&paths{at: &o.Filenames},
		&word{key: "rw", alias: "readwrite", at: (*string)(&o.RW)},
		&word{key: "ioengine", at: &o.IOEngine},
		&value[bool]{key: "direct", at: &o.Direct, say: sayBool, read: readBool},
		&value[bool]{key: "thread", at: &o.Thread, say: sayBool, read: readFlag},
		&value[int64]{key: "bs", alias: "blocksize", at: &o.BlockBytes, say: sayCount[int64], read: readBytes},
		&value[int64]{key: "size", at: &o.SizeBytes, say: sayCount[int64], read: readBytes},
		&value[int64]{key: "offset", alias: "fileoffset", at: &o.OffsetBytes, say: sayCount[int64], read: readBytes},
		&value[int]{key: "iodepth", at: &o.IODepth, say: sayCount[int], read: readCount},
		&value[int]{key: "numjobs", at: &o.NumJobs, say: sayCount[int], read: readCount},
		&value[bool]{key: "time_based", at: &o.TimeBased, say: sayBool, read: readFlag},
		&value[time.Duration]{key: "runtime", alias: "timeout", at: &o.Runtime, say: sayTime, read: readTime},
		&value[time.Duration]{key: "ramp_time", at: &o.RampTime, say: sayTime, read: readTime},
		&value[int]{key: "fsync", at: &o.Fsync, say: sayCount[int], read: readCount},
		&value[int]{key: "fdatasync", at: &o.Fdatasync, say: sayCount[int], read: readCount},
		&value[int]{key: "rwmixread", at: &o.RWMixRead, say: sayCount[int], read: readCount},
		&word{key: "cpus_allowed", at: &o.CPUsAllowed},
		&value[bool]{key: "group_reporting", at: &o.GroupReporting, say: sayBool, read: readFlag},
		&value[bool]{key: "norandommap", at: &o.NoRandomMap, say: sayBool, read: readFlag},
		&value[bool]{key: "lat_percentiles", at: &o.LatPercentiles, say: sayBool, read: readBool},
		&value[bool]{key: "allow_file_create", at: &o.AllowFileCreate, say: sayBool, read: readBool},
		&value[bool]{key: "invalidate", at: &o.Invalidate, say: sayBool, read: readBool},
		&value[bool]{key: "stonewall", alias: "wait_for_previous", at: &o.Stonewall, say: sayBool, read: readFlag},
	}
}

// value is an option that is a number, a time or a switch.
type value[T any] struct {
	key, alias string
	at         **T
	say        func(T) (string, error)
	read       func(value string, bare bool, u units) (T, bool)
}

func (v *value[T]) named(key string) bool { return isNamed(key, v.key, v.alias) }
func (v *value[T]) isSet() bool           { return *v.at != nil }
func (v *value[T]) clear()                { *v.at = nil }
func (v *value[T]) copyFrom(other field)  { *v.at = *other.(*value[T]).at }

func (v *value[T]) line() (string, error) {
	s, err := v.say(**v.at)
	if err != nil {
		return "", fmt.Errorf("%s: %w", v.key, err)
	}
	return v.key + "=" + s, nil
}

func (v *value[T]) parse(text string, bare bool, u units) bool {
	x, ok := v.read(text, bare, u)
	if ok {
		*v.at = &x
	}
	return ok
}

// word is an option that is a string.
type word struct {
	key, alias string
	at         *string
}

func (w *word) named(key string) bool { return isNamed(key, w.key, w.alias) }
func (w *word) isSet() bool           { return *w.at != "" }
func (w *word) clear()                { *w.at = "" }
func (w *word) copyFrom(other field)  { *w.at = *other.(*word).at }
func (w *word) line() (string, error) { return w.key + "=" + *w.at, nil }

func (w *word) parse(text string, bare bool, _ units) bool {
	if bare || text == "" {
		return false
	}
	*w.at = text
	return true
}

// paths is the option filename: paths joined by colons, where a backslash escapes a colon in a path.
type paths struct{ at *[]string }

func (p *paths) named(key string) bool { return key == "filename" }
func (p *paths) isSet() bool           { return len(*p.at) > 0 }
func (p *paths) clear()                { *p.at = nil }
func (p *paths) copyFrom(other field)  { *p.at = slices.Clone(*other.(*paths).at) }

func (p *paths) line() (string, error) {
	escaped := make([]string, len(*p.at))
	for i, path := range *p.at {
		switch {
		case path == "":
			return "", errors.New("filename: empty path")
		case strings.Contains(path, "$"), strings.Contains(path, `\:`), strings.HasSuffix(path, `\`),
			strings.Trim(path, blanks) != path:
			return "", fmt.Errorf("filename: a job file cannot carry the path %q: fio would read another one", path)
		}
		escaped[i] = strings.ReplaceAll(path, ":", `\:`)
	}
	return "filename=" + strings.Join(escaped, ":"), nil
}

func (p *paths) parse(text string, _ bool, _ units) bool {
	const colon = "\x00" // no line of a job file has one
	list := strings.Split(strings.ReplaceAll(text, `\:`, colon), ":")
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], colon, ":")
	}
	was := *p.at
	*p.at = list
	if line, err := p.line(); err != nil || line != "filename="+text {
		*p.at = was
		return false
	}
	return true
}

func isNamed(key, name, alias string) bool { return key == name || alias != "" && key == alias }

func sayBool(b bool) (string, error) {
	if b {
		return "1", nil
	}
	return "0", nil
}

func sayCount[T int | int64](n T) (string, error) {
	if n < 0 {
		return "", fmt.Errorf("%d is negative", n)
	}
	return strconv.FormatInt(int64(n), 10), nil
}

func sayTime(d time.Duration) (string, error) {
	switch {
	case d < 0:
		return "", fmt.Errorf("%v is negative", d)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second), nil
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%dms", d/time.Millisecond), nil
	case d%time.Microsecond == 0:
		return fmt.Sprintf("%dus", d/time.Microsecond), nil
	}
	return "", fmt.Errorf("%v is finer than fio's microsecond", d)
}

func readBool(text string, bare bool, _ units) (on, ok bool) {
	return text == "1", !bare && (text == "1" || text == "0")
}

// readFlag reads an option that is switched on by its presence ("thread") and, since about fio
// 3.29, off by "thread=0".
func readFlag(text string, bare bool, u units) (on, ok bool) {
	if bare {
		return true, true
	}
	return readBool(text, bare, u)
}

func readCount(text string, _ bool, _ units) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}

// readBytes reads "4096" and "4k". It rejects fio's other spellings, so that they stay in Extra:
// "4KiB" is 4000 bytes in fio unless kb_base is 1000.
func readBytes(text string, _ bool, u units) (int64, bool) {
	digits, shift := text, 0
	if i := len(text) - 1; i > 0 && !u.plain {
		if at := strings.IndexByte("kmgtp", text[i]|0x20); at >= 0 {
			digits, shift = text[:i], 10*(at+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > (1<<63-1)>>shift {
		return 0, false
	}
	return int64(n << shift), true
}

// readTime reads "10", which is seconds, "10s", "500ms", "2m" and the like.
func readTime(text string, _ bool, _ units) (time.Duration, bool) {
	digits := strings.TrimRight(text, "dhmsu")
	unit, known := map[string]time.Duration{
		"": time.Second, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[text[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 63)
	if !known || err != nil || n > uint64(1<<63-1)/uint64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
