package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A run that changes the write cache is killed, alone or with its process group. The cache is restored without
// another start of ssdprobe, and the next start reports it.
func TestSettingsComeBackWhenARunIsKilled(t *testing.T) {
	for name, group := range map[string]bool{"alone": false, "with its group": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testenv.Installed(t, "fio")
			loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
			attribute := "/sys/block/" + filepath.Base(loop.Path) + "/queue/write_cache"
			cache := func() string {
				text, err := os.ReadFile(attribute)
				require.NoError(t, err)
				return strings.TrimSpace(string(text))
			}
			require.NoError(t, os.WriteFile(attribute, []byte("write back"), 0))
			config, state := calm(t), t.TempDir()
			command := testenv.Command(t, nil, "run", "write-cache", "--config", config, "--state-dir", state, "-t", loop.Path,
				"--set", "time=10m", "--set", "blocks=4KiB", "--set", "depths=1", "--destroy", "name:"+filepath.Base(loop.Path))
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			p := testenv.StartCommand(t, command)
			eventually(t, "fio works on the device", func() bool { return len(fioOn(t, loop.Path)) > 0 })
			assert.Equal(t, "write through", cache())

			pid, fio := p.Cmd.Process.Pid, fioOn(t, loop.Path)[0]
			restorer := restorerOf(t, pid)
			alive, err := os.Readlink(restorer + "/fd/0")
			require.NoError(t, err)
			assert.Contains(t, descriptors(t, fmt.Sprintf("/proc/%d", pid)), alive)
			assert.NotContains(t, descriptors(t, fio), alive, "fio would keep it from ending")
			assert.NotContains(t, strings.Join(descriptors(t, restorer), " "), ".lock", "nor does it hold a lock of the run")

			if group {
				pid = -pid
			}
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			eventually(t, "the cache is on again", func() bool { return cache() == "write back" })
			p.Wait(t) // until nobody has its output open any more
			assert.Contains(t, p.Stderr.Text(), "ssdprobe: restored after a run: write cache of "+filepath.Base(loop.Path))

			next := ssdprobe(t, "run", "--config", config, "--state-dir", state, "-t", loop.Path, "--rounds", "1", "--probe", "read-4k")
			assert.Equal(t, 0, next.code, next.stderr)
			assert.Regexp(t, `restored after a run: write cache of .* is on again, since `, next.stderr)
		})
	}
}

// A drive that was pulled, and whose settings nobody can restore therefore, keeps no run from the others.
func TestSettingsOfADriveThatIsGoneHoldUpNoRun(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	leave := func(id string) {
		require.NoError(t, dir.Save("settings", id, map[string]any{
			"version": 1, "device_id": id, "entries": []map[string]any{{"setting": settings.WriteCache, "was": "unknown"}},
		}))
	}
	args := []string{"run", "--config", calm(t), "--state-dir", dir.Dir(), "-t", loop.Path, "--rounds", "1", "--probe", "read-4k"}
	leave("gone")
	got := ssdprobe(t, args...)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "not restored after a run: restore settings: find device gone")
	leave(d.ID)
	got = ssdprobe(t, args...)
	assert.Equal(t, 1, got.code, "it would be measured with settings that are not its own")
	assert.Contains(t, got.stderr, "restore write cache of "+d.Name)
}

// restorerOf finds the process that restores what a run has changed, in /proc.
func restorerOf(t *testing.T, pid int) string {
	t.Helper()
	for _, child := range testenv.Children(t, pid) {
		process := fmt.Sprintf("/proc/%d", child)
		if args, err := os.ReadFile(process + "/cmdline"); err == nil && strings.Contains(string(args), "restore-settings") {
			return process
		}
	}
	require.Fail(t, "there is none")
	return ""
}

// descriptors returns what a process has open.
func descriptors(t *testing.T, process string) []string {
	t.Helper()
	links, err := filepath.Glob(process + "/fd/*")
	require.NoError(t, err)
	var open []string
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil { // ignores one that was closed in between
			open = append(open, to)
		}
	}
	return open
}
