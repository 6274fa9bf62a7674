package daemon

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/export"
)

// systemd listens for notifications in place of systemd.
func systemd(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	t.Setenv("NOTIFY_SOCKET", path)
	return c
}

// told returns the first line of the next message.
func told(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	message := make([]byte, 4096)
	n, err := c.Read(message)
	require.NoError(t, err)
	first := bufio.NewScanner(strings.NewReader(string(message[:n])))
	first.Scan()
	return first.Text()
}

func TestSystemdIsToldWhatTheDaemonDoes(t *testing.T) {
	socket := systemd(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", "")
	dir := t.TempDir()
	c := config.Default()
	c.StateDir, c.LockDir, c.Devices.Enabled, c.FallbackFile = filepath.Join(dir, "state"), filepath.Join(dir, "locks"), false, false
	hangup := make(chan os.Signal, 1)
	d, err := New(Options{
		Config: c, Log: slog.New(slog.DiscardHandler), Latencies: export.NewLatencies(), Reload: hangup,
		Parse: func(config.Source) (config.Config, error) { return c, nil },
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	assert.Equal(t, "READY=1", told(t, socket))
	for range 3 {
		assert.Equal(t, "WATCHDOG=1", told(t, socket))
	}
	hangup <- os.Interrupt
	until := func(want string) {
		for {
			if got := told(t, socket); got != "WATCHDOG=1" {
				assert.Equal(t, want, got)
				return
			}
		}
	}
	until("RELOADING=1")
	until("READY=1")

	// While no snapshot can be created, the daemon does not count as alive.
	d.mu.Lock()
	require.NoError(t, socket.SetReadDeadline(time.Now().Add(time.Second)))
	silent := false
	for range 100 { // skip messages that were already sent
		if _, err := socket.Read(make([]byte, 64)); err != nil {
			silent = true
			break
		}
	}
	assert.True(t, silent, "it says that it lives")
	d.mu.Unlock()
	require.NoError(t, socket.SetReadDeadline(time.Now().Add(time.Minute)))
	assert.Equal(t, "WATCHDOG=1", told(t, socket))
	stop()
	until("STOPPING=1")
	require.NoError(t, <-ended)
}
