package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// No ssdprobe is started after the kill: only the attribute of the device is checked.
func TestSettingsComeBackAfterAKill(t *testing.T) {
	for name, kill := range map[string]func(pid, restorer int) error{
		"of the process": func(pid, _ int) error { return unix.Kill(pid, unix.SIGKILL) },
		"of its group":   func(pid, _ int) error { return unix.Kill(-pid, unix.SIGKILL) },
		"after signals to all": func(pid, restorer int) error {
			for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM} {
				if err := unix.Kill(restorer, s); err != nil {
					return err
				}
			}
			return unix.Kill(pid, unix.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			d, cache := cached(t)
			cmd := child(t, o, d)
			restorers := testenv.Children(t, cmd.Process.Pid)
			require.Len(t, restorers, 1)
			assert.Equal(t, "write through", cache())
			require.NoError(t, kill(cmd.Process.Pid, restorers[0]))
			require.Error(t, cmd.Wait())
			testenv.Eventually(t, "the cache is on again", func() bool { return cache() == "write back" })
			testenv.Eventually(t, "it has ended", func() bool { return gone(restorers[0]) })
			assert.Empty(t, journals(t, o))

			told := nextStart(t, o)
			require.Len(t, told, 1, "the next start tells of it")
			assert.Regexp(t, fmt.Sprintf(`^write cache of %s \(.*\) is on again, since \d{4}-`, d.Name), told[0])
			assert.Empty(t, nextStart(t, o), "once")
		})
	}
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err != nil
}

func TestTheRestorerEndsWithTheSession(t *testing.T) {
	o := options(t)
	d, _ := cached(t)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "on"))
	assert.Empty(t, testenv.Children(t, os.Getpid()), "nothing is changed")
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	restorers := testenv.Children(t, os.Getpid())
	require.Len(t, restorers, 1)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", restorers[0]))
	require.NoError(t, err)
	assert.NotContains(t, string(name), "ssdprobe", "pkill ssdprobe does not mean it")
	require.NoError(t, session.Restore())
	assert.Empty(t, testenv.Children(t, os.Getpid()), "it is reaped")
}

// Without a restorer, nothing is changed.
func TestNoChangeWithoutARestorer(t *testing.T) {
	for name, c := range map[string]struct {
		restorer []string
		says     string
	}{
		"none":                  {nil, "nobody has said by which command"},
		"not there":             {[]string{filepath.Join(t.TempDir(), "ssdprobe")}, "no such file"},
		"ends at once":          {[]string{"false"}, `it said "", and not that it is ready`},
		"something else":        {[]string{"echo"}, `and not that it is ready`},
		"without its directory": {testenv.CommandLine(t, "restore-settings", "--node", "x", "too many"), "not that it is ready"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.Restorer = c.restorer
			d, cache := cached(t)
			session, err := settings.Take(o, d)
			require.NoError(t, err)
			err = session.Set(t.Context(), settings.WriteCache, "off")
			require.ErrorContains(t, err, "start the process that restores settings if this one is killed: ")
			require.ErrorContains(t, err, c.says)
			assert.Equal(t, "write back", cache())
			assert.Empty(t, journals(t, o))
			assert.Empty(t, testenv.Children(t, os.Getpid()))
			require.NoError(t, session.Restore())
		})
	}
}

func TestARestorerThatWasKilled(t *testing.T) {
	o := options(t)
	d, cache := cached(t)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	restorers := testenv.Children(t, os.Getpid())
	require.Len(t, restorers, 1)
	require.NoError(t, unix.Kill(restorers[0], unix.SIGKILL))
	testenv.Eventually(t, "it is reaped", func() bool { return len(testenv.Children(t, os.Getpid())) == 0 })
	testenv.Eventually(t, "no further change", func() bool {
		// Setting the current value is no change, so each try sets the other value.
		err := session.Set(t.Context(), settings.WriteCache, map[string]string{"write back": "off", "write through": "on"}[cache()])
		return err != nil && assert.ErrorContains(t, err, "has ended (signal: killed): start the run again")
	})
	require.NoError(t, session.Restore())
	assert.Equal(t, "write back", cache())
	assert.Empty(t, journals(t, o))
}

// The error does not promise that a process which has ended tries again.
func TestARestorerThatWasKilledIsNotPromised(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"sys/block/vda/dev": "254:0\n", "sys/block/vda/size": "2048\n", "sys/block/vda/queue/write_cache": "write back\n",
	}, nil)
	o := options(t)
	o.FS = sysfs.New(root)
	d, err := device.Find(o.FS, "vda")
	require.NoError(t, err)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	restorers := testenv.Children(t, os.Getpid())
	require.Len(t, restorers, 1)
	require.NoError(t, unix.Kill(restorers[0], unix.SIGKILL))
	testenv.Eventually(t, "it is known", func() bool {
		return session.Set(t.Context(), settings.WriteCache, "on") != nil || session.Set(t.Context(), settings.WriteCache, "off") != nil
	})
	cache := filepath.Join(root, "sys/block/vda/queue/write_cache")
	require.NoError(t, os.Remove(cache))
	err = session.Restore()
	require.ErrorContains(t, err, fmt.Sprintf("process %d, which would try again, has ended (signal: killed): the next start of ssdprobe tries again", restorers[0]))
	assert.NotContains(t, err.Error(), "tries again for")
	assert.Len(t, journals(t, o), 1)
}
