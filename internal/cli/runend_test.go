package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// long returns the arguments of a run that takes ten minutes in a directory.
func long(t *testing.T, config, dir string) []string {
	t.Helper()
	return []string{"run", "quick", "--config", config, "--state-dir", t.TempDir(), "-t", dir, "--size", "16MiB", "--set", "time=10m"}
}

// ended waits for a command that was started and returns its exit code.
func ended(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	waited := make(chan error, 1)
	go func() { waited <- c.Wait() }()
	select {
	case err := <-waited:
		if exit := new(exec.ExitError); err != nil {
			require.ErrorAs(t, err, &exit)
		}
	case <-time.After(testenv.Patience):
		t.Fatal("the program does not end")
	}
	return c.ProcessState.ExitCode()
}

// pipe, socket and terminal return a possible destination of output, and its reader.
func pipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	return reader, writer
}

func socket(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	return os.NewFile(uintptr(pair[0]), "reader"), os.NewFile(uintptr(pair[1]), "writer")
}

func terminal(t *testing.T) (reader, writer *os.File) { return testenv.Terminal(t, 80) }

// The reader of the report goes away, as when the connection of a client breaks. Although nothing is written in
// between, the run ends.
func TestRunEndsWhenItsOutputIsGone(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]func(*testing.T) (reader, writer *os.File){"pipe": pipe, "socket": socket, "terminal": terminal} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testenv.OnDisk(t)
			reader, writer := output(t)
			c := testenv.Command(t, nil, long(t, calm(t), dir)...)
			said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			require.NoError(t, err)
			c.Stdout, c.Stderr = writer, said
			require.NoError(t, c.Start())
			t.Cleanup(func() { _ = c.Process.Kill() }) // it has usually ended
			require.NoError(t, writer.Close())
			eventually(t, "fio works on the file", func() bool { return len(fioOn(t, dir)) > 0 })
			require.NoError(t, reader.Close())
			assert.Equal(t, 1, ended(t, c))
			assert.Empty(t, fioOn(t, dir))
			assert.Empty(t, testenv.Names(t, dir), "what was made is removed")
			text, err := os.ReadFile(said.Name())
			require.NoError(t, err)
			assert.Contains(t, string(text), "nobody reads its output any more")
			require.NoError(t, said.Close())
		})
	}
}

// The run is started as by cron or nohup: no terminal, no input, the report in a file, messages to nobody.
func TestRunNeedsNobody(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	report := filepath.Join(t.TempDir(), "report")
	args := long(t, calm(t), dir)
	args[len(args)-1] = "time=2s"
	c := testenv.Command(t, nil, args...)
	// The shell closes what it can, and ignores SIGHUP as nohup does.
	c.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@" <&- >` + report + ` 2>&3`, "sh", c.Path}, c.Args[1:]...)
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	c.Path = shell
	reader, writer := pipe(t)
	c.ExtraFiles = []*os.File{writer}
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() }) // it has usually ended
	require.NoError(t, writer.Close())
	messages := bufio.NewScanner(reader)
	for messages.Scan() && !strings.HasPrefix(messages.Text(), "step 1 of ") {
	}
	require.Contains(t, messages.Text(), "step 1 of ")
	require.NoError(t, reader.Close(), "nobody reads its messages any more")
	require.NoError(t, c.Process.Signal(syscall.SIGHUP))
	assert.Equal(t, 0, ended(t, c))
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), "random-read-qd1")
	assert.Empty(t, testenv.Names(t, dir))
}

func TestRunIsStopped(t *testing.T) {
	t.Parallel()
	one, other, config := testenv.OnDisk(t), testenv.OnDisk(t), file(t, "c.yaml", "")
	locks := t.TempDir()
	require.NoError(t, os.WriteFile(config, []byte("lock_dir: "+locks+"\nadmission: {max_utilisation: 1, max_in_flight: 1000, max_io_pressure: 1, max_cpu_wait: 1}\n"), 0o600))
	stop := func(more ...string) done {
		return ssdprobe(t, append([]string{"run", "--stop", "--config", config}, more...)...)
	}

	none := stop()
	assert.Equal(t, 1, none.code)
	assert.Contains(t, none.stderr, "no run is in progress: no lock in "+locks)

	p := start(t, long(t, config, one)...)
	eventually(t, "fio works on the file", func() bool { return len(fioOn(t, one)) > 0 })
	elsewhere := stop("-t", other)
	assert.Equal(t, 1, elsewhere.code)
	assert.Contains(t, elsewhere.stderr, "no run is in progress on "+other)
	assert.NotEmpty(t, fioOn(t, one), "it goes on")

	// A note written by another user stops only processes of that user.
	locked, err := filepath.Glob(locks + "/*.lock")
	require.NoError(t, err)
	require.Len(t, locked, 1)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(locked[0], 65534, 65534))
		assert.Equal(t, 1, stop().code)
		assert.NotEmpty(t, fioOn(t, one), "it goes on")
		require.NoError(t, os.Chown(locked[0], 0, 0))
	}

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(one, link))
	got := stop("-t", link)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, fmt.Sprintf("stopped the run on %s (process %d)\n", one, p.Cmd.Process.Pid), got.stdout)
	assert.Empty(t, fioOn(t, one), "it has ended when the command has")
	assert.Empty(t, testenv.Names(t, one))
	assert.Equal(t, 143, p.Wait(t))
	assert.Contains(t, p.Stderr.Text(), "stopped by SIGTERM, as kill and ssdprobe run --stop send it")

	// The process in the note of a killed run is gone: its pid may belong to another process now.
	p = start(t, long(t, config, one)...)
	eventually(t, "fio works on the file", func() bool { return len(fioOn(t, one)) > 0 })
	p.Signal(t, syscall.SIGKILL)
	p.Wait(t)
	assert.Equal(t, 1, stop().code)
	notes, err := filepath.Glob(locks + "/*.lock")
	require.NoError(t, err)
	require.Len(t, notes, 1)
	noted, err := os.ReadFile(notes[0])
	require.NoError(t, err)
	taken, err := os.Open(notes[0])
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(taken.Fd()), unix.LOCK_EX), "as a round of the daemon")
	t.Cleanup(func() { assert.NoError(t, taken.Close()) })
	bystander := exec.Command("sleep", "1000")
	require.NoError(t, bystander.Start())
	t.Cleanup(func() { _ = errors.Join(bystander.Process.Kill(), bystander.Wait()) }) // it was killed, so there is always an error
	number := fmt.Appendf(nil, `"pid":%d,`, p.Cmd.Process.Pid)
	require.Contains(t, string(noted), string(number))
	require.NoError(t, os.WriteFile(notes[0], bytes.Replace(noted, number, fmt.Appendf(nil, `"pid":%d,`, bystander.Process.Pid), 1), 0o600))
	assert.Equal(t, 1, stop().code, "a process that has got the number is left alone")
	require.NoError(t, bystander.Process.Signal(syscall.Signal(0)))

	for want, args := range map[string][]string{
		`can only be combined with --target; leave out --rounds`: {"--rounds", "3"},
		`stops runs of any suite; leave "quick"`:                 {"quick"},
	} {
		wrong := stop(args...)
		assert.Equal(t, 2, wrong.code)
		assert.Contains(t, wrong.stderr, want)
	}
}

// Whoever asked for a baseline is told that there is none, whether or not something was measured.
func TestAnInterruptedRunSavesNoBaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args     []string
		underWay string
		measured bool
	}{
		"while it measures":       {[]string{"--rounds", "10000"}, `round 1 of`, true},
		"while it fills the file": {[]string{"--size", "4GiB"}, `fill +\d`, false},
		"while fio works":         {[]string{"quick", "--set", "time=10m"}, `step 1 of 3`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateDir := t.TempDir()
			p := start(t, append([]string{"run", "--config", calm(t), "--state-dir", stateDir, "-t", testenv.OnDisk(t), "--size", "16MiB", "--save-baseline"}, c.args...)...)
			p.Stderr.Find(t, c.underWay)
			p.Signal(t, syscall.SIGINT)
			assert.Equal(t, 130, p.Wait(t))
			assert.Regexp(t, `ssdprobe: .*interrupt signal received; no baseline was saved\n$`, p.Stderr.Text())
			assert.Equal(t, c.measured, p.Stdout.Text() != "")
			assert.Empty(t, testenv.Names(t, filepath.Join(stateDir, "run-baselines")))
		})
	}
}

// Runs of another user are reported as such. A user who may not read the locks is told what to do.
func TestRunOfAnotherUserIsNotStopped(t *testing.T) {
	testenv.Root(t)
	locks := filepath.Join(t.TempDir(), "locks")
	require.NoError(t, os.Mkdir(locks, 0o700))
	config := filepath.Join(testenv.OnDisk(t), "c.yaml")
	require.NoError(t, os.WriteFile(config, []byte("lock_dir: "+locks+"\n"), 0o644))
	require.NoError(t, os.Chmod(filepath.Dir(config), 0o755))
	code, said := asNobody(t, "run", "--stop", "--config", config, "--state-dir", "/nonexistent")
	assert.Equal(t, 1, code)
	assert.Contains(t, said, "stop a run as the user who started it, or as root")
}
