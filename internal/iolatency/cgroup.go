package iolatency

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// mostCGroups bounds how many control groups are read, and thus kept.
	mostCGroups = 8192
	// lookAgain is the shortest time between two walks of the tree. It is longer if they take more than costShare
	// of the time.
	lookAgain = 10 * time.Second
	costShare = 1e-3
)

// cgroups maps the ids that the kernel gives control groups to their paths. An id is the inode number of the
// group's directory. cgroups is safe for concurrent use.
type cgroups struct {
	root string // where they are mounted

	mu    sync.Mutex
	paths map[uint64]string
	due   time.Time // when the tree may be walked again
}

// mounted returns where the version 2 hierarchy is mounted. The eBPF programs report ids of its groups.
func mounted() string {
	const dir = "/sys/fs/cgroup"
	if _, err := os.Stat(dir + "/unified/cgroup.controllers"); err == nil { // mounted beside version 1
		return dir + "/unified"
	}
	return dir
}

// path returns the path of a group below the root of the hierarchy, such as "/system.slice/postgresql.service".
// It returns the id instead if the path is unknown because the group is gone or belongs to another hierarchy.
func (c *cgroups) path(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path, ok := c.paths[id]; ok {
		return path
	}
	c.look()
	if path, ok := c.paths[id]; ok {
		return path
	}
	return fmt.Sprintf("number %d", id)
}

// follow keeps the paths up to date: a group may end together with its I/O, and cannot be looked up then.
func (c *cgroups) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
}

// look walks the tree, if that is due.
func (c *cgroups) look() {
	began := time.Now()
	if began.Before(c.due) {
		return
	}
	c.paths = map[uint64]string{}
	defer func() { c.due = began.Add(max(lookAgain, time.Duration(float64(time.Since(began))/costShare))) }()
	n := 0
	_ = filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error { // groups come and go meanwhile
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // a group that cannot be read stays unknown
		}
		n++
		if n > mostCGroups {
			return fs.SkipAll
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil //nolint:nilerr // the group is gone
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			c.paths[st.Ino] = "/" + strings.TrimPrefix(strings.TrimPrefix(path, c.root), "/")
		}
		return nil
	})
}
