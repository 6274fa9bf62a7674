package counters

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// membership is one line of /proc/self/cgroup.
type membership struct {
	controllers []string // empty for version 2
	path        string
}

func readMembership(fs sysfs.FS) ([]membership, error) {
	f, err := fs.Open("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseMembership(f)
}

// parseMembership parses lines of "id:controller,controller:/path" (man 7 cgroups).
func parseMembership(r io.Reader) ([]membership, error) {
	var all []membership
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) != 3 || !path.IsAbs(fields[2]) {
			return nil, fmt.Errorf("parse cgroup: line %q is not id:controllers:path", lines.Text())
		}
		m := membership{path: fields[2]}
		if fields[1] != "" {
			m.controllers = strings.Split(fields[1], ",")
		}
		all = append(all, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read cgroup: %w", err)
	}
	return all, nil
}

// locate finds the files of one controller. The controller belongs to the version 1
// hierarchy that lists it, or else to version 2.
func locate(memberships []membership, mounts []*mountinfo.Info, controller string) hierarchy {
	var h hierarchy
	var own string
	for _, m := range memberships {
		if slices.Contains(m.controllers, controller) {
			h.version, own = 1, m.path
			break
		}
		if len(m.controllers) == 0 {
			h.version, own = 2, m.path
		}
	}
	var best *mountinfo.Info
	var below string
	for _, m := range mounts {
		rel, ok := relative(own, m.Root)
		if !ok || !carries(m, h.version, controller) {
			continue
		}
		// The mount whose root is highest shows the most ancestors; a later mount hides an earlier one.
		if best == nil || len(m.Root) <= len(best.Root) {
			best, below = m, rel
		}
	}
	if best == nil {
		return h
	}
	for ; below != "/"; below = path.Dir(below) {
		h.dirs = append(h.dirs, path.Join(best.Mountpoint, below))
	}
	h.dirs = append(h.dirs, best.Mountpoint)
	return h
}

// carries reports whether a mount is that of the controller's hierarchy.
func carries(m *mountinfo.Info, version int, controller string) bool {
	switch version {
	case 1:
		return m.FSType == "cgroup" && slices.Contains(strings.Split(m.VFSOptions, ","), controller)
	case 2:
		return m.FSType == "cgroup2"
	default:
		return false
	}
}

// relative returns where the group at own is below the group at root, "/" when it is
// the same one. Both may begin with "/..", which in a control group namespace stands
// for what lies outside of it.
func relative(own, root string) (string, bool) {
	rel, ok := strings.CutPrefix(own, strings.TrimSuffix(root, "/"))
	if !ok || rel != "" && rel[0] != '/' || slices.Contains(strings.Split(rel, "/"), "..") {
		return "", false
	}
	return path.Join("/", rel), true
}
