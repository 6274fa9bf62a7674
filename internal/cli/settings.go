package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// These environment variables replace flags that each command would need. The DaemonSet sets them for a pod,
// and so also for whatever kubectl exec runs in it.
const (
	configVariable = "SSDPROBE_CONFIG"
	nodeVariable   = "SSDPROBE_NODE"
)

// configTimeout is how long the filesystem of the configuration file may take to answer.
const configTimeout = 30 * time.Second

// source returns the contents of the configuration file; empty when there is none.
func (a *app) source() (config.Source, error) {
	if a.configFile == "" {
		return config.Source{}, nil
	}
	source, err := guard.Do(context.Background(), &guard.Guard{}, configTimeout, func(context.Context) (config.Source, error) {
		return config.Read(a.configFile)
	})
	switch {
	case guard.Hangs(err):
		err = fmt.Errorf("load configuration: read %s: its filesystem hangs: %w", a.configFile, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EISDIR):
		err = usage(err)
	}
	return source, err
}

// parse returns the configuration in a file's contents, or the defaults.
func parse(source config.Source) (config.Config, error) {
	if source.Path == "" {
		return config.Default(), nil
	}
	c, err := source.Parse(checkRuns)
	var problems config.Problems
	if errors.As(err, &problems) {
		return c, usage(err)
	}
	return c, err
}

// load returns the configuration of the file, or the defaults.
func (a *app) load() (config.Config, error) {
	source, err := a.source()
	if err != nil {
		return config.Config{}, err
	}
	return parse(source)
}

// settings returns the configuration in force: that of the file, or the defaults, with everything filled in
// that depends on the machine.
func (a *app) settings() (config.Config, error) {
	source, err := a.source()
	if err != nil {
		return config.Config{}, err
	}
	return a.settingsFrom(source)
}

// settingsFrom is settings with contents of the file that were read before.
func (a *app) settingsFrom(source config.Source) (config.Config, error) {
	c, err := parse(source)
	if err != nil {
		return c, err
	}
	node, from := a.node, "--node"
	if node == "" {
		node, from = os.Getenv(nodeVariable), nodeVariable
	}
	if node != "" {
		c.Node = node
		if err := c.Validate(); err != nil {
			return c, usage(fmt.Errorf("%s: %w", from, err))
		}
	}
	if a.stateDir != "" {
		dir, err := filepath.Abs(a.stateDir)
		if err != nil {
			return c, usage(fmt.Errorf("--state-dir %s: %w", a.stateDir, err))
		}
		c.StateDir = dir
	}
	return complete(c)
}

// complete fills in what depends on the machine and the user.
func complete(c config.Config) (config.Config, error) {
	if c.Node == "" {
		name, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("find the name of this machine, or set node in the configuration: %w", err)
		}
		c.Node = name
	}
	root := os.Geteuid() == 0
	if c.StateDir == "" {
		c.StateDir = "/var/lib/ssdprobe"
		if !root {
			dir, err := userStateDir()
			if err != nil {
				return c, err
			}
			c.StateDir = dir
		}
	}
	if c.LockDir == "" {
		switch runtimeDir := os.Getenv("XDG_RUNTIME_DIR"); {
		case root:
			c.LockDir = "/run/ssdprobe/locks"
		case filepath.IsAbs(runtimeDir):
			c.LockDir = filepath.Join(runtimeDir, "ssdprobe", "locks")
		default:
			c.LockDir = filepath.Join(c.StateDir, "locks")
		}
	}
	return c, nil
}

// userStateDir returns the directory for the state of a user's programs according to the XDG Base Directory
// Specification.
func userStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // relative paths must be ignored
		return filepath.Join(dir, "ssdprobe"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the state, or name one with --state-dir: %w", err)
	}
	return filepath.Join(home, ".local", "state", "ssdprobe"), nil
}
