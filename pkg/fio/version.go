package fio

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// Version is a version of fio. Versions compare with == and [Version.Less].
type Version struct {
	Major, Minor, Patch int
	// Commits counts the commits after the release: 59 in fio-3.36-59-g1a2b3c4.
	Commits int
	// Suffix is whatever else follows: "g1a2b3c4", "dirty", "g1a2b3c4-dirty", "rc1".
	Suffix string
}

// ParseVersion reads what `fio --version` prints and what fio's JSON gives as
// "fio version": fio-3.33, fio-2.2.10, fio-3.36-59-g1a2b3c4, fio-3.8-dirty.
func ParseVersion(s string) (Version, error) {
	form := regexp.MustCompile(`^fio-(\d+)\.(\d+)(?:\.(\d+))?(?:-(\d+))?(?:-([0-9A-Za-z.+~-]+))?$`)
	part := form.FindStringSubmatch(s)
	if part == nil {
		return Version{}, fmt.Errorf("parse fio version %q: not of the form fio-3.33", s)
	}
	v := Version{Suffix: part[5]}
	for i, number := range []*int{&v.Major, &v.Minor, &v.Patch, &v.Commits} {
		if part[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(part[i+1], 10, 32)
		if err != nil {
			return Version{}, fmt.Errorf("parse fio version %q: %w", s, err)
		}
		*number = int(n)
	}
	return v, nil
}

// Less reports whether v is older than w. Suffixes are not compared: a version with local changes
// is neither older nor newer than the version it is based on.
func (v Version) Less(w Version) bool {
	return cmp.Or(
		cmp.Compare(v.Major, w.Major),
		cmp.Compare(v.Minor, w.Minor),
		cmp.Compare(v.Patch, w.Patch),
		cmp.Compare(v.Commits, w.Commits),
	) < 0
}

// String returns the version as fio prints it: "fio-3.33".
func (v Version) String() string {
	s := fmt.Sprintf("fio-%d.%d", v.Major, v.Minor)
	if v.Patch > 0 {
		s += fmt.Sprintf(".%d", v.Patch)
	}
	if v.Commits > 0 {
		s += fmt.Sprintf("-%d", v.Commits)
	}
	if v.Suffix != "" {
		s += "-" + v.Suffix
	}
	return s
}
