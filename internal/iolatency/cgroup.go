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
	// mostCGroups bounds what is looked at, and what is kept.
	mostCGroups = 8192
	// lookAgain is how often the tree is looked through, at most.
	lookAgain = 10 * time.Second
)

// cgroups tells the paths of control groups by the numbers that the kernel gives them: those of their directories. Several
// goroutines may use it.
type cgroups struct {
	root string // where they are mounted

	mu     sync.Mutex
	paths  map[uint64]string
	looked time.Time
}

// mounted is where the groups of version 2 are, whose numbers the kernel tells.
func mounted() string {
	const dir = "/sys/fs/cgroup"
	if _, err := os.Stat(dir + "/unified/cgroup.controllers"); err == nil { // beside those of version 1
		return dir + "/unified"
	}
	return dir
}

// path is that below the root of all groups, "/system.slice/postgresql.service"; the number where that is not known, as of one that
// has gone or of another hierarchy.
func (c *cgroups) path(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path, ok := c.paths[id]; ok {
		return path
	}
	if time.Since(c.looked) >= lookAgain {
		c.look()
	}
	if path, ok := c.paths[id]; ok {
		return path
	}
	return fmt.Sprintf("number %d", id)
}

func (c *cgroups) look() {
	c.looked, c.paths = time.Now(), map[uint64]string{}
	n := 0
	_ = filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error { // groups come and go meanwhile
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not known
		}
		n++
		if n > mostCGroups {
			return fs.SkipAll
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil //nolint:nilerr // it has gone
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			c.paths[st.Ino] = "/" + strings.TrimPrefix(strings.TrimPrefix(path, c.root), "/")
		}
		return nil
	})
}
