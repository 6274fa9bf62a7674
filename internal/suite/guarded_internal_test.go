package suite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// withoutCache returns the options and steps of a run without the write cache, on a loop device that has one.
func withoutCache(t *testing.T) (o Options, steps []Step, cache func() string) {
	t.Helper()
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	file := "/sys/block/" + d.Name + "/queue/write_cache"
	require.NoError(t, os.WriteFile(file, []byte("write back"), 0))
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	o.Target.Device = d
	o.Settings = settings.Options{Store: dir.Store, OpenNVMe: nvme.Open, Restorer: testenv.CommandLine(t, "restore-settings")}
	return o, []Step{{Settings: []Setting{{settings.WriteCache, "off"}}}}, func() string {
		text, err := sysfs.FS{}.Text(file)
		require.NoError(t, err)
		return text
	}
}

// soon waits for what another goroutine or process is about to do.
func soon(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, done, time.Minute, time.Millisecond)
}

func noJournal(t *testing.T, o Options) func() bool {
	t.Helper()
	return func() bool {
		names, err := o.Settings.Store.Names("settings")
		return err == nil && len(names) == 0
	}
}

// A state directory that hangs keeps neither the settings changed nor the run from ending.
func TestSettingsAreRestoredWhileTheStateDirectoryHangs(t *testing.T) {
	o, steps, cache := withoutCache(t)
	c, err := o.takeSettings(t.Context(), steps, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "write through", cache())
	hung := testenv.HungFilesystem(t, o.Settings.Store.Dir())
	ended, end := context.WithCancel(t.Context())
	end() // as when the window of the run has closed
	c.patience = time.Millisecond
	err = c.restore(ended)
	require.True(t, guard.Hangs(err), "%v", err)
	require.ErrorContains(t, err, "the state directory or the device does not answer")
	soon(t, func() bool { return cache() == "write back" })

	answered := make(chan struct{})
	c.guard.Finally(func() { close(answered) })
	hung.End(t)
	<-answered
	soon(t, noJournal(t, o))
	assert.Equal(t, "write back", cache())
}

// While a change hangs, nothing else can be done. The settings are restored when it returns.
func TestSettingsAreRestoredWhenAChangeReturns(t *testing.T) {
	o, steps, cache := withoutCache(t)
	c, err := o.takeSettings(t.Context(), steps, time.Minute)
	require.NoError(t, err)
	back := make(chan struct{})
	c.patience = time.Millisecond
	require.True(t, guard.Hangs(c.use(t.Context(), func(context.Context) error { <-back; return nil })))
	require.True(t, guard.Hangs(c.apply(t.Context(), Step{})))
	require.True(t, guard.Hangs(c.restore(t.Context())))
	assert.Equal(t, "write through", cache())
	close(back)
	soon(t, noJournal(t, o))
	assert.Equal(t, "write back", cache())
	soon(t, func() bool { // it has also let go of the device
		again, err := settings.Take(o.Settings, o.Target.Device)
		return err == nil && assert.NoError(t, again.Restore())
	})
}

// A run that has been given up changes nothing afterwards.
func TestNothingIsChangedForARunThatWasGivenUp(t *testing.T) {
	o, steps, cache := withoutCache(t)
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, unix.Mkfifo(gate, 0o600))
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	restorer := strings.Join(o.Settings.Restorer, " ")
	o.Settings.Restorer = []string{shell, "-c", `read -r _ <"$0"; exec ` + restorer + ` "$@"`, gate} // hangs until somebody writes
	c, err := o.takeSettings(t.Context(), steps, time.Millisecond)
	require.True(t, guard.Hangs(err), "%v", err)
	require.NoError(t, c.restore(t.Context()), "there is nothing to restore yet")

	answered := make(chan struct{})
	require.False(t, c.guard.Finally(func() { close(answered) }))
	require.NoError(t, os.WriteFile(gate, []byte("\n"), 0))
	<-answered
	assert.Equal(t, "write back", cache())
	assert.True(t, noJournal(t, o)())
	again, err := settings.Take(o.Settings, o.Target.Device)
	require.NoError(t, err, "it has let go of the device")
	require.NoError(t, again.Restore())
}
