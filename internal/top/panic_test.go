package top_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

// panics is the environment variable that turns this program into a view whose source or lines panic.
const panics = "SSDPROBE_TEST_TOP_PANICS"

func panicIn(where string) {
	view := top.NewView(time.Second, top.ByTrouble, true)
	if where == "the view" {
		view = nil
	}
	source := top.NewSource(top.Options{
		Host: sysfs.New("/"), Interval: time.Second, All: true,
		Ask: func(context.Context) (string, record.Snapshot, error) {
			if where == "the source" {
				panic("the source is broken")
			}
			return "", record.Snapshot{}, nil
		},
	})
	err := top.ShowLive(context.Background(), os.Stdin, os.Stdout, source, view)
	fmt.Fprintln(os.Stderr, "it ended without a panic:", err)
}

// A bug of ours must not leave behind a terminal that does not echo.
func TestAPanicGivesTheTerminalBack(t *testing.T) {
	for where, says := range map[string]string{"the source": "the source is broken", "the view": "nil pointer"} {
		t.Run(where, func(t *testing.T) {
			person, terminal := testenv.Terminal(t, 0)
			defer person.Close()
			before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
			require.NoError(t, err)
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), panics+"="+where, "TERM=xterm")
			var stderr bytes.Buffer
			c.Stdin, c.Stdout, c.Stderr = terminal, terminal, &stderr
			require.NoError(t, c.Start())
			require.Error(t, c.Wait())
			after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
			require.NoError(t, err)
			assert.Equal(t, before, after)
			assert.Equal(t, 2, c.ProcessState.ExitCode(), "that of a panic")
			assert.Contains(t, stderr.String(), "panic: ")
			assert.Contains(t, stderr.String(), says)
			require.NoError(t, terminal.Close())
			shown, err := io.ReadAll(person)
			if err != nil {
				require.ErrorIs(t, err, unix.EIO) // nobody has the terminal open any more
			}
			assert.Contains(t, string(shown), "\x1b[?1049h")
			assert.Regexp(t, `\x1b\[\?25h\x1b\[\?1049l$`, string(shown), "the cursor and what stood there are back")
		})
	}
}
