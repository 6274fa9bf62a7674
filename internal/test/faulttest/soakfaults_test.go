package faulttest_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// faults returns the faults that a soak chooses from.
func (s *soak) faults() []fault {
	wornUp := func(t *testing.T) {
		t.Helper()
		s.awaitUp(t, s.wornID, true)
		for _, probe := range []string{"read-4k", "durable-write-4k"} { // the trouble of each probe is over, so that its next one is logged
			s.awaitMore(t, s.wornID, probe, "ok", 1)
		}
	}
	nothing := func(*testing.T) {}
	return []fault{
		{
			name: "read errors", place: "device", inject: s.readErrors,
			noticed: `round not usable.*device=` + filepath.Base(s.raw.Path) + ` .*outcome=error`,
			over:    func(t *testing.T) { t.Helper(); s.awaitMore(t, s.rawID, "read-4k", "ok", 1) },
		},
		{name: "filesystem read-only", place: "filesystem", inject: s.readOnly, noticed: `cannot open the target.*read-only file system`, over: wornUp},
		{name: "filesystem shut down", place: "filesystem", inject: s.shutDown, noticed: `cannot open the target.*input/output error`, over: wornUp},
		{name: unmounted, place: "filesystem", inject: s.unmounted, noticed: saysUnmounted, over: wornUp},
		{name: "filesystem hangs", place: "filesystem", inject: func(t *testing.T) func(*testing.T) {
			t.Helper()
			return freeze(t, s.worn.dir)
		}, noticed: `round not usable.*` + s.wornID + ` probe=durable-write-4k outcome=timeout`, over: wornUp},
		{name: "probe file lost, filesystem full", place: "filesystem", inject: s.full, noticed: `cannot open the target.*too little space`, over: wornUp},
		{name: "bad configuration", place: "daemon", inject: s.badConfiguration, noticed: saysRefused},
		{name: forgets, place: "daemon", inject: s.unsavable, noticed: `the stored state has a problem`},
		{name: "another daemon", place: "daemon", inject: func(t *testing.T) func(*testing.T) {
			t.Helper()
			second := ssdprobe(t, nil, "daemon", "--config", s.config, "--state-dir", s.state, "--web.listen-address", "127.0.0.1:0")
			assert.Equal(t, 1, second.code, second.stderr)
			return nothing
		}},
		{name: "fio prints garbage", place: "fio", inject: func(t *testing.T) func(*testing.T) {
			t.Helper()
			dir := testenv.OnDisk(t)
			got := ssdprobe(t, otherFio(t, answersVersion+"echo '}{' >&3"), runQuick(t, dir, "--set", "time=200ms")...)
			assert.Equal(t, 1, got.code, got.stderr)
			assertClean(t, dir, dir)
			return nothing
		}},
		{name: "half-open connections", place: "clients", inject: s.halfOpen},
		{name: "a crowd of scrapers", place: "clients", inject: s.crowd},
	}
}

func (s *soak) readErrors(t *testing.T) func(*testing.T) {
	t.Helper()
	s.raw.Truncate(t, 1<<20)
	return func(t *testing.T) {
		t.Helper()
		s.raw.Truncate(t, 64<<20)
		s.raw.Write(t, 0, 64<<20)
	}
}

func (s *soak) remount(t *testing.T, flags uintptr) {
	t.Helper()
	eventually(t, "remounted", func() bool { // fails while a round has the file open for writing
		err := unix.Mount("", s.worn.dir, "", unix.MS_REMOUNT|unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID|flags, "")
		require.True(t, err == nil || errors.Is(err, unix.EBUSY), err)
		return err == nil
	})
}

func (s *soak) readOnly(t *testing.T) func(*testing.T) {
	t.Helper()
	s.remount(t, unix.MS_RDONLY)
	return func(t *testing.T) { t.Helper(); s.remount(t, 0) }
}

func (s *soak) shutDown(t *testing.T) func(*testing.T) {
	t.Helper()
	shutDown(t, s.worn.dir)
	return func(t *testing.T) {
		t.Helper()
		testenv.Unmount(t, s.worn.dir, 0)
		testenv.Mount(t, s.worn.device, s.worn.dir)
	}
}

func (s *soak) unmounted(t *testing.T) func(*testing.T) {
	t.Helper()
	testenv.Unmount(t, s.worn.dir, unix.MNT_DETACH)
	return func(t *testing.T) {
		t.Helper()
		testenv.Mount(t, s.worn.device, s.worn.dir)
		name := filepath.Base(s.worn.device.Path)
		eventually(t, "the target is on "+name+" again", func() bool {
			_, found := s.scrape(t).value(t, "ssdprobe_target_up", labels{"id": s.wornID, "device": name})
			return found
		})
	}
}

func (s *soak) full(t *testing.T) func(*testing.T) {
	t.Helper()
	// First fill the filesystem, then remove the file: the space that it leaves is far too small for a new one.
	filler := fill(t, s.worn.dir)
	require.NoError(t, os.Remove(filepath.Join(s.worn.dir, "ssdprobe.dat")))
	return func(t *testing.T) { t.Helper(); empty(t, filler) }
}

func (s *soak) badConfiguration(t *testing.T) func(*testing.T) {
	t.Helper()
	good, err := os.ReadFile(s.config)
	require.NoError(t, err)
	s.reload(t, string(good)+"colour: red\n", saysRefused)
	return func(t *testing.T) { t.Helper(); s.reload(t, string(good), saysReloaded) }
}

// unsavable puts a file where the state is saved, and makes the daemon save with a configuration
// that replaces all watches.
func (s *soak) unsavable(t *testing.T) func(*testing.T) {
	t.Helper()
	targets := filepath.Join(s.state, "targets")
	require.NoError(t, os.MkdirAll(targets, 0o700)) // in case nothing was saved so far
	require.NoError(t, os.Rename(targets, targets+".away"))
	require.NoError(t, os.WriteFile(targets, nil, 0o600))
	s.reload(t, s.configuration+"drift: {baseline_rounds: 100000, threshold: 0.3}\n", saysReloaded)
	return func(t *testing.T) {
		t.Helper()
		require.NoError(t, os.Remove(targets))
		require.NoError(t, os.Rename(targets+".away", targets))
		s.reload(t, s.configuration+"drift: {baseline_rounds: 100000}\n", saysReloaded)
		s.awaitCollector(t, "state", true)
	}
}

func (s *soak) halfOpen(t *testing.T) func(*testing.T) {
	t.Helper()
	open := make([]net.Conn, 500)
	for i := range open {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.address(t))
		require.NoError(t, err)
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n") // it may be cut off already
		open[i] = c
	}
	return func(t *testing.T) {
		t.Helper()
		for _, c := range open {
			require.NoError(t, c.Close())
		}
	}
}

func (s *soak) crowd(t *testing.T) func(*testing.T) {
	t.Helper()
	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range 4 {
				if _, err := scrapeOnce(t.Context(), client, s.url+"metrics"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return func(t *testing.T) { t.Helper(); require.NoError(t, group.Wait()) }
}
