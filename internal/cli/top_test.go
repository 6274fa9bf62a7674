package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

// nobody returns the flags for a configuration whose daemon does not run.
func nobody(t *testing.T) []string {
	t.Helper()
	return []string{"--state-dir", t.TempDir(), "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]\nnode: stor-07\n")}
}

// samples returns the samples that a program has printed so far as JSON.
func samples(t *testing.T, text string) (all []top.Sample) {
	t.Helper()
	for line := range strings.Lines(text) {
		var s top.Sample
		require.NoError(t, json.Unmarshal([]byte(line), &s), line)
		all = append(all, s)
	}
	return all
}

// A device that the user names is shown, or the error says why not.
func TestANamedLoopDeviceIsNotHidden(t *testing.T) {
	loop, empty := testenv.LoopDevice(t, 1<<20, testenv.Options{}), testenv.LoopDevice(t, 0, testenv.Options{})
	run := func(args ...string) done { return ssdprobe(t, append(args, nobody(t)...)...) }
	for _, command := range []string{"smart", "top"} {
		wrong := run(command, "loop99999")
		assert.Equal(t, 2, wrong.code)
		assert.Contains(t, wrong.stderr, "no device has that name; here are: ")
		assert.Regexp(t, `\b`+filepath.Base(loop.Path)+`\b`, wrong.stderr)
		assert.NotRegexp(t, `\b`+filepath.Base(empty.Path)+`\b`, wrong.stderr)
	}
	none := run("top", empty.Path, "--once")
	assert.Equal(t, 1, none.code)
	assert.Equal(t, "ssdprobe: "+empty.Path+": it has no size: there is no medium in it\n", none.stderr)
	assert.Empty(t, none.stdout)
	shown := run("top", loop.Path, "--once")
	assert.Equal(t, 0, shown.code, shown.stderr)
	assert.Contains(t, shown.stdout, filepath.Base(loop.Path)+" ")
}

// The counts of all samples add up to those of the kernel, to the last I/O.
func TestTopCountsWhatTheKernelCounts(t *testing.T) {
	t.Parallel()
	device := testenv.LoopDevice(t, 64<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	counted := func() counters.Disk {
		disks, err := counters.ReadDisks(sysfs.New("/"))
		require.NoError(t, err)
		disk, ok := disks.ByNumber(device.Number)
		require.True(t, ok)
		return disk
	}
	p := start(t, append(nobody(t), "top", device.Path, "--json")...)
	p.Stdout.Find(t, `"device":"loop`) // udev has finished with it
	skip := len(p.Stdout.Text())
	before := counted()
	for _, of := range [][]string{
		{"if=" + device.Path, "of=/dev/null", "bs=4k", "count=1000", "iflag=direct"},
		{"if=/dev/zero", "of=" + device.Path, "bs=64k", "count=100", "oflag=direct", "conv=notrunc,fsync"},
	} {
		out, err := exec.CommandContext(t.Context(), "dd", append(of, "status=none")...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	want, ok := counted().Since(before)
	require.True(t, ok)
	require.GreaterOrEqual(t, want.ReadIOs, uint64(1000))
	require.GreaterOrEqual(t, want.Flushes.IOs, uint64(1))

	var reads, writes, flushes int64
	var readBytes, writtenBytes float64
	eventually(t, "all of it has been shown", func() bool {
		reads, writes, flushes, readBytes, writtenBytes = 0, 0, 0, 0, 0
		for _, s := range samples(t, p.Stdout.Text()[skip:]) {
			d := s.Devices[0].Traffic
			reads, writes, flushes = reads+d.Read.IOs, writes+d.Write.IOs, flushes+d.Flush.IOs
			readBytes += d.Work.ReadBytes * d.Span.Seconds()
			writtenBytes += d.Work.WrittenBytes * d.Span.Seconds()
		}
		return uint64(reads+writes+flushes) >= want.ReadIOs+want.WriteIOs+want.Flushes.IOs
	})
	assert.EqualValues(t, want.ReadIOs, reads)
	assert.EqualValues(t, want.WriteIOs, writes)
	assert.EqualValues(t, want.Flushes.IOs, flushes)
	assert.InDelta(t, float64(want.ReadSectors.Bytes()), readBytes, 0.5)
	assert.InDelta(t, float64(want.WriteSectors.Bytes()), writtenBytes, 0.5)
	p.Signal(t, syscall.SIGINT)
	assert.Equal(t, 130, p.Wait(t))
}

func TestTopWithoutATerminal(t *testing.T) {
	t.Parallel()
	device := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	name := strings.TrimPrefix(device.Path, "/dev/")
	text := ssdprobe(t, append(nobody(t), "top", name, "--once")...)
	require.Equal(t, 0, text.code, text.stderr)
	assert.Regexp(t, `^stor-07  .*  1 device\nNo verdicts: no daemon answers at http://127.0.0.1:1\ndevice .* verdict .*\n`+name+` .*\n\n$`, text.stdout)
	assert.Empty(t, text.stderr)

	two := ssdprobe(t, append(nobody(t), "top", name, "--count", "2", "--json")...)
	require.Equal(t, 0, two.code, two.stderr)
	assert.Len(t, samples(t, two.stdout), 2)

	all := ssdprobe(t, append(nobody(t), "top", "--once", "--all")...)
	assert.Contains(t, all.stdout, "\n"+name+" ")
	whole := ssdprobe(t, append(nobody(t), "top", "--once")...)
	assert.NotContains(t, whole.stdout, "\n"+name+" ", "a loop device is no disk")

	p := start(t, append(nobody(t), "top")...)
	p.Stdout.Find(t, "device ")
	p.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 128+int(syscall.SIGTERM), p.Wait(t))
}

// top counts what the disks of this machine do. A disk of another machine may have the same id, and its verdict is not theirs.
func TestTopShowsNoVerdictsOfAnotherMachine(t *testing.T) {
	t.Parallel()
	device := testenv.LoopDevice(t, 1<<20, testenv.Options{})
	id := "name:" + strings.TrimPrefix(device.Path, "/dev/")
	for node, want := range map[string]string{
		"stor-07": `"verdict":\{"verdict":"severe"`,
		"stor-08": `"problem":"the daemon at http://\S+ is that of the node stor-08, and these are the disks of stor-07; if it is the same machine, want --node stor-08"`,
	} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				assert.NoError(t, json.NewEncoder(w).Encode(record.Snapshot{Time: time.Now(), Node: node, Targets: []record.TargetStatus{
					{ID: id, Device: record.Device{ID: id}, Verdict: &record.Judgement{Verdict: record.Severe}},
				}}))
			}))
			defer daemon.Close()
			p := start(t, append(nobody(t), "top", device.Path, "--json", "--url", daemon.URL)...)
			p.Stdout.Find(t, want)
			p.Signal(t, syscall.SIGTERM)
			assert.Equal(t, 128+int(syscall.SIGTERM), p.Wait(t))
		})
	}
}

func TestTopMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"half a second":  {[]string{"--interval", "500ms"}, "--interval: 500ms is not a time of whole seconds"},
		"a day":          {[]string{"--interval", "24h"}, "1s to 1h"},
		"fewer than one": {[]string{"--count", "-1"}, "--count: -1"},
		"none":           {[]string{"--count", "0"}, "--count: 0 is not a number of samples; want 1 or more, or no --count to go on until Ctrl-C"},
		"once, and none": {[]string{"--once", "--count", "0"}, "--count: 0 is not a number of samples"},
		"twice":          {[]string{"--once", "--count", "3"}, "--once, --count 3: give one of them"},
		"no such order":  {[]string{"--sort", "size"}, `--sort: "size" is not an order; want trouble, iops`},
		"no URL":         {[]string{"--url", "stor-07"}, `--url: "stor-07" is not the URL of a daemon`},
		"no such device": {[]string{"nosuch0"}, "find device nosuch0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append(append(nobody(t), "top"), c.args...)...)
			assert.Equal(t, 2, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.says)
			assert.Empty(t, got.stdout)
		})
	}
}

// The daemon's verdicts are shown next to the kernel's counts. If the daemon hangs or dies, only the verdicts
// disappear.
func TestTopBesideADaemon(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	d, _ := startDaemon(t, state, file(t, "c.yaml", onFile(dir)))
	p := start(t, "top", "--all", "--json", "--state-dir", state)
	p.Stdout.Find(t, `"verdict":{"verdict":"unknown"`) // the verdict on the device below the file
	last := func() top.Sample {
		all := samples(t, p.Stdout.Text())
		return all[len(all)-1]
	}
	assert.Empty(t, last().Daemon.Problem)
	assert.False(t, last().Daemon.Time.IsZero())

	d.Signal(t, syscall.SIGSTOP)
	p.Stdout.FindAfter(t, len(p.Stdout.Text()), `"problem":"the daemon at http://\S+ does not answer"`)
	assert.NotEmpty(t, last().Devices, "the rest is shown")
	for _, row := range last().Devices {
		assert.Nil(t, row.Verdict, "it is of a while ago")
	}
	d.Signal(t, syscall.SIGCONT)
	p.Stdout.FindAfter(t, len(p.Stdout.Text()), `"verdict":{"verdict":`)
	d.Signal(t, syscall.SIGKILL)
	p.Stdout.FindAfter(t, len(p.Stdout.Text()), `"problem":"no daemon answers at http://`)
}

// Percentiles come from the daemon's eBPF programs: here they are those of fio's I/O, and missing while there
// is none.
func TestTopShowsPercentilesOfTheDaemon(t *testing.T) {
	t.Parallel()
	const size = 16<<20 + 4096*79 // no other test uses this size
	device := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	state := t.TempDir()
	config := file(t, "c.yaml", fmt.Sprintf("lock_dir: %s\ndevices: {include: [{name: \"loop*\", min_size: %[2]d, max_size: %[2]d}]}\n", t.TempDir(), size)+onceAnHour)
	startDaemon(t, state, config)
	p := start(t, "top", device.Path, "--json", "--state-dir", state)
	p.Stdout.Find(t, `"daemon":{"address":"http://[^"]+","time":"`)
	assert.NotContains(t, p.Stdout.Text(), `"p99_ns"`)
	testenv.Readers(t, device.Path, 1)
	p.Stdout.Find(t, `"p99_ns":{"read":[1-9]\d+`)
	all := samples(t, p.Stdout.Text())
	row := all[len(all)-1].Devices[0]
	assert.Less(t, row.P99[record.OperationRead], time.Minute)
	assert.NotContains(t, row.P99, record.OperationWrite, "nobody writes")
}

// tmux is a real terminal in which the program runs.
type tmux struct {
	t           *testing.T
	socket, dir string
}

// startTmux runs the program in a terminal of 80 by 24 characters, which prints the exit code at the end.
func startTmux(t *testing.T, environment string, args ...string) tmux {
	t.Helper()
	s := tmux{t, filepath.Join(t.TempDir(), "s"), t.TempDir()}
	testenv.Installed(t, "tmux")
	c := testenv.Command(t, nil, args...)
	script := file(t, "run.sh", "trap : INT\ncd "+s.dir+"\nstty -g > before\n"+environment+" '"+strings.Join(c.Args, "' '")+"' 2> stderr\necho code=$?\nstty -g > after\nexec cat\n")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.screen())
		}
		s.tmux("kill-server")
	})
	c.Path, c.Args = testenv.Installed(t, "tmux"), []string{"tmux", "-u", "-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sh " + script}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

func (s tmux) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...).CombinedOutput()
	require.NoError(s.t, err, "%s", out)
	return string(out)
}

func (s tmux) screen() string { return s.tmux("capture-pane", "-p") }

func (s tmux) press(keys ...string) { s.tmux(append([]string{"send-keys"}, keys...)...) }

// shows waits until the screen matches.
func (s tmux) shows(pattern string) {
	s.t.Helper()
	wanted := regexp.MustCompile(pattern)
	eventually(s.t, pattern, func() bool { return wanted.MatchString(s.screen()) })
}

// live reports whether the program uses the whole screen of the terminal.
func (s tmux) live() bool {
	return strings.TrimSpace(s.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")) == "1 0"
}

// program returns the process id of the program.
func (s tmux) program() string {
	shell := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pgrep", "-P", shell).Output()
	require.NoError(s.t, err)
	return strings.TrimSpace(string(out))
}

// ended waits for the end of the program, and asserts that the terminal is restored.
func (s tmux) ended(code string) {
	s.t.Helper()
	s.shows(`code=\d+`)
	assert.Contains(s.t, s.screen(), "code="+code+"\n")
	assert.Equal(s.t, "0 1", strings.TrimSpace(s.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")))
	eventually(s.t, "the shell goes on", func() bool {
		text, err := os.ReadFile(filepath.Join(s.dir, "after"))
		return err == nil && len(text) > 0
	})
	before, err := os.ReadFile(filepath.Join(s.dir, "before"))
	require.NoError(s.t, err)
	after, err := os.ReadFile(filepath.Join(s.dir, "after"))
	require.NoError(s.t, err)
	assert.Equal(s.t, string(before), string(after))
	said, err := os.ReadFile(filepath.Join(s.dir, "stderr"))
	require.NoError(s.t, err)
	assert.Empty(s.t, string(said))
}

// A user works at a terminal: a device with I/O, one that stalls, and all keys.
func TestTopInATerminal(t *testing.T) {
	t.Parallel()
	below := testenv.Ext4(t, 64<<20)
	busy, still := testenv.LoopDevice(t, 16<<20, testenv.Options{}), testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: below})
	busyName, stillName := strings.TrimPrefix(busy.Path, "/dev/"), strings.TrimPrefix(still.Path, "/dev/")
	testenv.Readers(t, busy.Path, 2)
	s := startTmux(t, "", append(nobody(t), "top", busy.Path, still.Path)...)
	s.shows(`(?m)^device .*\n` + busyName + ` +[1-9]`) // the busiest is first
	assert.True(t, s.live())
	assert.Contains(t, s.screen(), "No verdicts: no daemon answers at http://127.0.0.1:1")

	fsfreeze := func(how string) {
		out, err := exec.Command("fsfreeze", how, below).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	fsfreeze("--freeze")
	thawed := false
	defer func() {
		if !thawed {
			fsfreeze("--unfreeze")
		}
	}()
	hang := exec.Command("dd", "if=/dev/zero", "of="+still.Path, "bs=4k", "count=1", "seek=100", "oflag=direct", "conv=notrunc", "status=none")
	require.NoError(t, hang.Start())
	s.shows(`(?m), 1 stalled .*\n.*\ndevice .*\n` + stillName + ` .* [1-9]\d*s .*\n` + busyName) // the stalled one is first
	s.press("s")
	s.shows(`(?m) by iops\n.*\ndevice .*\n` + busyName)
	thawed = true
	fsfreeze("--unfreeze")
	require.NoError(t, hang.Wait())
	s.shows(`(?m)^` + stillName + ` .* 1× `)

	s.press("r")
	s.shows(`(?m) by iops, reversed\n.*\ndevice .*\n` + stillName)
	s.press("r", "/", stillName, "Enter")
	s.shows(`(?m)^device .*\n` + stillName + ` .*\n\n`)
	assert.NotContains(t, s.screen(), busyName+" ")
	s.press("Escape")
	s.shows(`(?m)^` + busyName)
	s.press("Enter")
	s.shows(`(?m)^` + busyName + `  loop ` + busy.Number + `(?s:.*)^IOPS: now [1-9].*\n.*[▁▂▃▄▅▆▇█](?s:.*)^in flight: now `)
	s.press("Down")
	s.shows(`(?m)^` + stillName + `  loop (?s:.*)1 stall in the last hour`)
	s.press("Escape")
	s.shows(`(?m)^device `)

	s.tmux("resize-window", "-x", "140", "-y", "30")
	s.shows(`(?m)^device .* rMB/s .* model\n`)
	s.tmux("resize-window", "-x", "80", "-y", "6")
	s.shows(`(?m)^device .* verdict\n(.*\n)+q quit`)

	program := s.program()
	s.press("C-z")
	eventually(t, "the terminal is free", func() bool { return !s.live() })
	require.NoError(t, exec.Command("kill", "-CONT", program).Run())
	eventually(t, "it is back", s.live)
	s.shows(`(?m)^` + busyName)
	s.press("q")
	s.ended("0")
}

// The terminal is restored however the program ends.
func TestTopGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, signal, code string }{
		"Ctrl-C": {"C-c", "", "130"}, "SIGINT": {"", "-INT", "130"}, "SIGTERM": {"", "-TERM", "143"}, "SIGHUP": {"", "-HUP", "129"}, "SIGQUIT": {"", "-QUIT", "131"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTmux(t, "", append(nobody(t), "top", "--all")...)
			s.shows(`(?m)^device `)
			require.True(t, s.live())
			if c.key != "" {
				s.press(c.key)
			} else {
				require.NoError(t, exec.Command("kill", c.signal, s.program()).Run())
			}
			s.ended(c.code)
		})
	}
}

// A terminal that cannot move its cursor gets plain lines. Two samples fit on it: without --all, there are no loop
// devices of other tests.
func TestTopOnADumbTerminal(t *testing.T) {
	t.Parallel()
	s := startTmux(t, "TERM=dumb", append(nobody(t), "top")...)
	s.shows(`(?ms)^device (.*)^device `)
	assert.False(t, s.live())
	s.press("C-c")
	s.ended("130")
}
