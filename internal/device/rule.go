package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/glob"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Rule matches a device if every field that is set matches. The strings are shell
// patterns (glob.Match). The zero Rule matches nothing.
type Rule struct {
	Name      string // the kernel's name, "nvme*"
	ID        string // the stable identity
	Model     string
	ByID      string // one of the names in /dev/disk/by-id
	Transport string // one of record.Transports
	// MinSizeBytes and MaxSizeBytes are inclusive bounds of the size; 0 means no bound.
	MinSizeBytes int64
	MaxSizeBytes int64
}

// Match reports whether the rule matches a device.
func (r Rule) Match(d record.Device) bool {
	return r != Rule{} &&
		matches(r.Name, d.Name) && matches(r.ID, d.ID) && matches(r.Model, d.Model) && matches(r.ByID, d.ByID...) &&
		matches(r.Transport, d.Transport) &&
		d.SizeBytes >= r.MinSizeBytes && (r.MaxSizeBytes == 0 || d.SizeBytes <= r.MaxSizeBytes)
}

// names reports whether the rule identifies devices, and does not only select by size or transport.
func (r Rule) names() bool { return r.Name != "" || r.ID != "" || r.Model != "" || r.ByID != "" }

// String returns the rule in the form "name nvme*, at least 1.0 TB".
func (r Rule) String() string {
	var parts []string
	for _, field := range []struct{ name, pattern string }{
		{"name", r.Name}, {"id", r.ID}, {"model", r.Model}, {"by-id", r.ByID}, {"transport", r.Transport},
	} {
		if field.pattern != "" {
			parts = append(parts, field.name+" "+field.pattern)
		}
	}
	if r.MinSizeBytes > 0 {
		parts = append(parts, fmt.Sprint("at least ", units.DriveSize(r.MinSizeBytes)))
	}
	if r.MaxSizeBytes > 0 {
		parts = append(parts, fmt.Sprint("at most ", units.DriveSize(r.MaxSizeBytes)))
	}
	return strings.Join(parts, ", ")
}

// matches reports whether a pattern is not set or matches one of the values. A
// malformed pattern matches nothing; configurations with one are refused when read.
func matches(pattern string, values ...string) bool {
	return pattern == "" || slices.ContainsFunc(values, func(value string) bool { return glob.Match(pattern, value) })
}
