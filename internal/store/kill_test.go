package store_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

const (
	saverEnv = "SSDPROBE_TEST_SAVER"
	fromEnv  = "SSDPROBE_TEST_FROM"
)

// large returns a value of which every part contains n.
func large(n int) value { return value{N: n, Text: strings.Repeat(strconv.Itoa(n)+",", 20_000)} }

// A process that saves in an endless loop is killed after a random number of events in
// the directory. The value that can then be loaded is complete, is one that was saved,
// and is never older than the one before.
func TestKilledWhileSaving(t *testing.T) {
	if dir := os.Getenv(saverEnv); dir != "" {
		saveForEver(t, dir)
	}
	t.Parallel()
	s := open(t)
	require.NoError(t, s.Save(kind, "x", large(0)))
	events := watch(t, filepath.Join(s.Dir(), kind))
	random := rand.New(rand.NewPCG(1, 2))
	last, half := 0, 0
	for range 30 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileSaving$")
		cmd.Env = append(os.Environ(), saverEnv+"="+s.Dir(), fromEnv+"="+strconv.Itoa(last+1))
		require.NoError(t, cmd.Start())
		events.await(t, 1+random.IntN(25))
		require.NoError(t, cmd.Process.Kill())
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())

		var v value
		found, err := at(t, s.Dir()).Load(kind, "x", &v)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, large(v.N), v)
		require.GreaterOrEqual(t, v.N, last, "an older one came back")
		last = v.N
		half += len(tree(t, s.Dir())) - 1
		require.NoError(t, s.RemoveLeftovers(time.Now().Add(time.Hour)))
		require.Len(t, tree(t, s.Dir()), 1)
		events.drain(t)
	}
	assert.NotZero(t, last, "nothing was ever saved")
	assert.NotZero(t, half, "no save was ever interrupted")
}

func saveForEver(t *testing.T, dir string) {
	n, err := strconv.Atoi(os.Getenv(fromEnv))
	require.NoError(t, err)
	s, err := store.Open(dir, store.Schema{Version: 1})
	require.NoError(t, err)
	for ; ; n++ {
		require.NoError(t, s.Save(kind, "x", large(n)))
	}
}

// dirEvents counts the events in a directory (inotify).
type dirEvents struct{ file *os.File }

func watch(t *testing.T, dir string) dirEvents {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	file := os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_DELETE)
	require.NoError(t, err)
	return dirEvents{file}
}

// await returns after n more events.
func (e dirEvents) await(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, e.file.SetReadDeadline(time.Now().Add(10*time.Minute)))
	buffer := make([]byte, 64<<10)
	for n > 0 {
		got, err := e.file.Read(buffer)
		require.NoError(t, err)
		for p := buffer[:got]; len(p) > 0; n-- {
			p = p[unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(p[12:]):]
		}
	}
}

// drain discards the events so far.
func (e dirEvents) drain(t *testing.T) {
	t.Helper()
	raw, err := e.file.SyscallConn()
	require.NoError(t, err)
	buffer := make([]byte, 64<<10)
	require.NoError(t, raw.Control(func(fd uintptr) {
		for err == nil { // without a deadline, which could pass before the first read
			_, err = unix.Read(int(fd), buffer)
		}
	}))
	require.ErrorIs(t, err, unix.EAGAIN)
}
