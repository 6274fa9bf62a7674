package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// namedOfMany is how many devices of a group are listed by name.
const namedOfMany = 2

// LeftOut says which devices are not watched and why, one line for each. A host may have
// hundreds of devices that are files or memory. They share a line when they share the
// reason: "loop0, loop1 and 158 more: a loop device".
func LeftOut(ignored []record.Ignored) []string {
	type group struct {
		names  []string
		reason string
	}
	var groups []*group
	shared := map[string]*group{} // by reason
	for _, i := range ignored {
		g := shared[i.Reason]
		if g == nil || !ofMany(i.Device) {
			g = &group{reason: i.Reason}
			groups = append(groups, g)
		}
		if ofMany(i.Device) {
			shared[i.Reason] = g
		}
		g.names = append(g.names, i.Device.Name)
	}
	lines := make([]string, len(groups))
	for i, g := range groups {
		names := strings.Join(g.names, ", ")
		if more := len(g.names) - namedOfMany; more > 0 {
			names = fmt.Sprintf("%s and %d more", strings.Join(g.names[:namedOfMany], ", "), more)
		}
		lines[i] = names + ": " + g.reason
	}
	return lines
}

// ofMany reports whether a device is a file or memory.
func ofMany(d record.Device) bool {
	return d.Kind == record.KindLoop || d.Kind == record.KindRAM || d.Kind == record.KindZRAM
}
