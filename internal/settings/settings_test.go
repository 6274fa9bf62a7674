package settings_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// helperDevice makes the test binary change the write cache of the given device and wait for a
// signal; helperState is its state directory, and helperRestorer the command of the process
// that restores if it is killed.
const (
	helperDevice   = "SETTINGS_HELPER_DEVICE"
	helperState    = "SETTINGS_HELPER_STATE"
	helperRestorer = "SETTINGS_HELPER_RESTORER"
)

func TestMain(m *testing.M) {
	testenv.Be(cli.Main)
	if path := os.Getenv(helperDevice); path != "" {
		os.Exit(change(path, os.Getenv(helperState), strings.Fields(os.Getenv(helperRestorer))))
	}
	os.Exit(m.Run())
}

// change behaves like a run: SIGINT and SIGTERM end it, and it restores.
func change(path, dir string, restorer []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	s, err := state.Open(dir)
	if err != nil {
		return 1
	}
	d, err := device.Find(sysfs.FS{}, path)
	if err != nil {
		return 2
	}
	session, err := settings.Take(settings.Options{Store: s.Store, OpenNVMe: nvme.Open, Restorer: restorer}, d)
	if err != nil {
		return 3
	}
	if err := session.Set(ctx, settings.WriteCache, "off"); err != nil {
		return 4
	}
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return 5
	}
	<-ctx.Done()
	if session.Restore() != nil {
		return 6
	}
	return 0
}

func options(t *testing.T) settings.Options {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	return settings.Options{Store: dir.Store, OpenNVMe: nvme.Open, Restorer: testenv.CommandLine(t, "restore-settings")}
}

// cached returns a loop device whose write cache is on.
func cached(t *testing.T) (record.Device, func() string) {
	t.Helper()
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	file := "/sys/block/" + d.Name + "/queue/write_cache"
	require.NoError(t, os.WriteFile(file, []byte("write back"), 0))
	return d, func() string {
		text, err := sysfs.FS{}.Text(file)
		require.NoError(t, err)
		return text
	}
}

func TestSetAndRestore(t *testing.T) {
	o := options(t)
	d, cache := cached(t)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "on"))
	assert.Empty(t, journals(t, o), "nothing was changed")
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	assert.Equal(t, "write through", cache())
	assert.Equal(t, []string{d.ID}, journals(t, o))
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "on"))
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	value, err := session.Read(settings.WriteCache)
	require.NoError(t, err)
	assert.Equal(t, "off", value)

	// A process that starts meanwhile does not touch the settings of a live run.
	assert.Empty(t, nextStart(t, o))
	_, err = settings.Take(o, d)
	require.ErrorIs(t, err, store.ErrLocked)

	require.NoError(t, session.Restore())
	assert.Equal(t, "write back", cache())
	assert.Empty(t, journals(t, o))
}

func journals(t *testing.T, o settings.Options) []string {
	t.Helper()
	names, err := o.Store.Names("settings")
	require.NoError(t, err)
	return names
}

// nextStart restores what is left, and returns what is told of it.
func nextStart(t *testing.T, o settings.Options) []string {
	t.Helper()
	told, left, err := settings.RestorePending(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, left)
	return told
}

// child starts a process and returns when it has changed the write cache.
func child(t *testing.T, o settings.Options, d record.Device) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperDevice+"=/dev/"+d.Name, helperState+"="+o.Store.Dir(), helperRestorer+"="+strings.Join(o.Restorer, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd
}

func TestSignalsRestore(t *testing.T) {
	for _, s := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		t.Run(unix.SignalName(s), func(t *testing.T) {
			o := options(t)
			d, cache := cached(t)
			cmd := child(t, o, d)
			assert.Equal(t, "write through", cache())
			require.NoError(t, cmd.Process.Signal(s))
			require.NoError(t, cmd.Wait())
			assert.Equal(t, "write back", cache())
			assert.Empty(t, journals(t, o))
		})
	}
}

// killBoth kills a process and its restorer, like the end of a container.
func killBoth(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	for _, restorer := range testenv.Children(t, cmd.Process.Pid) {
		require.NoError(t, unix.Kill(restorer, unix.SIGKILL))
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

func TestTheNextStartRestoresAfterAKill(t *testing.T) {
	o := options(t)
	d, cache := cached(t)
	cmd := child(t, o, d)
	assert.Empty(t, nextStart(t, o), "it lives")
	killBoth(t, cmd)
	assert.Equal(t, "write through", cache())

	assert.Equal(t, []string{"write cache of " + d.Name + " (" + d.ID + ") is on again"}, nextStart(t, o))
	assert.Equal(t, "write back", cache())
	assert.Empty(t, nextStart(t, o))
}

// A run that starts next also restores first, so that it does not take the changed value for
// the device's own.
func TestTheNextRunRestoresAfterAKill(t *testing.T) {
	o := options(t)
	d, cache := cached(t)
	cmd := child(t, o, d)
	killBoth(t, cmd)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	assert.Equal(t, "write back", cache())
	require.NoError(t, session.Restore())
}

// scsi returns a disk whose cache is set through its caching mode page.
func scsi(t *testing.T) (sysfs.FS, string) {
	t.Helper()
	root := t.TempDir()
	dir := "sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0"
	sysfstest.Add(t, root, map[string]string{
		dir + "/block/sda/dev": "8:0\n", dir + "/block/sda/size": "2048\n", dir + "/block/sda/queue/write_cache": "write back\n",
		dir + "/scsi_disk/0:0:0:0/cache_type": "write back\n", dir + "/vendor": "ATA\n", dir + "/model": "DISK\n", dir + "/wwid": "naa.5000c500a1b2c3d4\n",
	}, map[string]string{
		"sys/block/sda": "/" + dir + "/block/sda", "sys/class/block/sda": "/" + dir + "/block/sda",
		dir + "/block/sda/device": "../..", dir + "/subsystem": "/sys/bus/scsi", "sys/bus/scsi/x": "/x",
	})
	return sysfs.New(root), filepath.Join(root, dir, "scsi_disk/0:0:0:0/cache_type")
}

func TestSCSIIsSetOnTheDrive(t *testing.T) {
	o := options(t)
	fs, file := scsi(t)
	o.FS = fs
	d, err := device.Find(fs, "sda")
	require.NoError(t, err)
	session, err := settings.Take(o, d)
	require.NoError(t, err)
	require.NoError(t, session.Set(t.Context(), settings.WriteCache, "off"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "write through", string(text))
	require.ErrorIs(t, session.Set(t.Context(), settings.InterruptCoalescing, "10/100µs"), settings.ErrNone)
	require.NoError(t, session.Restore())
}

// The journal of a device that is gone is kept until it is back.
func TestADeviceThatIsGone(t *testing.T) {
	o := options(t)
	d, cache := cached(t)
	cmd := child(t, o, d)
	killBoth(t, cmd)
	without := o
	without.FS = sysfstest.Make(t, map[string]string{"sys/block/x/dev": "1:1\n"}, nil)
	_, left, err := settings.RestorePending(t.Context(), without)
	require.NoError(t, err)
	require.ErrorIs(t, left[d.ID], os.ErrNotExist)
	assert.Equal(t, []string{d.ID}, journals(t, o))
	nextStart(t, o)
	assert.Equal(t, "write back", cache())

	_, err = settings.Take(o, record.Device{})
	require.ErrorContains(t, err, "the device is not known")
}

func TestParseCoalescing(t *testing.T) {
	for text, want := range map[string]string{"off": "off", "1/0s": "off", "10/100us": "10/100µs", "256/25.5ms": "256/25.5ms"} {
		got, err := settings.ParseCoalescing(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "on", "10", "10/", "0/100us", "257/100us", "10/150us", "10/26ms", "10/-100us", "x/100us"} {
		_, err := settings.ParseCoalescing(text)
		require.ErrorContains(t, err, "is not valid; want off")
	}
}

// A journal that was cut is told once, and does not keep all later runs from beginning.
func TestADamagedJournalIsSetAside(t *testing.T) {
	for _, kind := range []string{"settings", "settings-restored"} {
		o := options(t)
		require.NoError(t, o.Store.Save(kind, "drive", []string{"x"}))
		path := filepath.Join(o.Store.Dir(), kind, "drive.json")
		require.NoError(t, os.Truncate(path, 100))
		_, _, err := settings.RestorePending(t.Context(), o)
		damaged := new(store.DamagedError)
		require.ErrorAs(t, err, &damaged)
		assert.FileExists(t, damaged.SetAside)
		nextStart(t, o)
	}
}
