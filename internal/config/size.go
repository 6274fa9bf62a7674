package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
)

type sizeUnit struct {
	name  string
	bytes int64
}

// sizeUnits returns the units in the order in which FormatSize prefers them: binary ones first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"", 1}, {"B", 1},
	}
}

// sizeText also matches ambiguous units that people write.
var sizeText = regexp.MustCompile(`^(\d+) ?([BKMGTPEZYbkmgtpezyi]*)$`)

// ParseSize parses a number of bytes: digits and an optional unit, which is B, a power of 1024 (KiB, MiB, GiB, TiB)
// or a power of 1000 (kB, MB, GB, TB). Ambiguous units (K, M, KB) are rejected. The error is a Problem.
func ParseSize(text string) (int64, error) {
	parts := sizeText.FindStringSubmatch(text)
	if parts == nil {
		return 0, notA("a size", text, "a whole number of bytes with an optional unit, e.g. 4096, 4KiB, 128KiB")
	}
	units := sizeUnits()
	u := slices.IndexFunc(units, func(u sizeUnit) bool { return u.name == parts[2] })
	if u < 0 {
		return 0, Problem{
			Value: text, Wrong: "has no clear unit",
			Want: "KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000), e.g. 4KiB",
		}
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n > math.MaxInt64/units[u].bytes {
		return 0, Problem{Value: text, Wrong: "is too large for a size", Want: "at most 8388607TiB"}
	}
	return n * units[u].bytes, nil
}

// FormatSize formats a number of bytes exactly, in the unit that makes the number smallest: "4KiB", "1GB", "1500".
// ParseSize parses the result.
func FormatSize(bytes int64) string {
	best := sizeUnit{"", 1}
	for _, u := range sizeUnits() {
		if bytes != 0 && bytes%u.bytes == 0 && u.bytes > best.bytes {
			best = u
		}
	}
	return strconv.FormatInt(bytes/best.bytes, 10) + best.name
}
