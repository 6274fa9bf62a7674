package docstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A task takes at most this many pages, including the README, and calls of ssdprobe.
const mostLooks, mostCalls = 4, 3

// unknownVerdict is the exit code of ssdprobe check while the verdict is not known.
const unknownVerdict = 3

// user is a user with the README, the help and a terminal.
type user struct {
	binary, dir string
	// terminal is an environment in which commands find ssdprobe, with a temporary state.
	terminal []string
	// words holds replacements in what the user types, for a busy machine and a short test.
	words []string
	// beside is a command that runs in another terminal.
	beside *testenv.Program
}

func newUser(t *testing.T) *user {
	t.Helper()
	dir, bin := testenv.OnDisk(t), t.TempDir()
	binary := lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")
	wrapper := "#!/bin/sh\nexec " + binary + " --state-dir " + filepath.Join(dir, "state") + ` "$@"` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ssdprobe"), []byte(wrapper), 0o700))
	return &user{
		binary: binary, dir: dir, terminal: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")),
		words: []string{
			"WATCHED", filepath.Join(dir, "watched"), "run --stop", "run --stop --target measured",
			"run --target", "run --size 16MiB --even-if-busy --target", "run --job", "run --size 16MiB --even-if-busy --job",
			"run quick", "run quick --size 16MiB --even-if-busy", "run depth-sweep --target", "run depth-sweep --size 16MiB --even-if-busy --target",
		},
	}
}

func (u *user) command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", strings.NewReplacer(u.words...).Replace(line))
	c.Dir, c.Env = u.dir, u.terminal
	return c
}

// start starts a command in another terminal and waits until it prints that it has begun.
func (u *user) start(t *testing.T, k task) {
	t.Helper()
	u.beside = testenv.StartCommand(t, u.command(context.WithoutCancel(t.Context()), "exec "+k.beside))
	said := u.beside.Stderr.Find(t, k.begun)
	u.terminal = append(u.terminal, "BESIDE="+strconv.Itoa(u.beside.Cmd.Process.Pid))
	if len(said) > 1 {
		u.words = append(u.words, "localhost:10040", said[1])
	}
}

// do does a task.
func (u *user) do(t *testing.T, k task) {
	t.Helper()
	if k.beside != "" {
		u.start(t, k)
	}
	for i, line := range k.runs {
		last := i == len(k.runs)-1
		if last && k.repeats {
			testenv.Eventually(t, line+" says "+k.says, func() bool {
				out, err := u.command(t.Context(), line).CombinedOutput()
				return err == nil && strings.Contains(string(out), k.says)
			})
			continue
		}
		c := u.command(t.Context(), line)
		out, err := c.CombinedOutput()
		if c.ProcessState == nil {
			require.NoError(t, err, line)
		}
		exit := 0
		if last {
			exit = k.exit
			if k.unknown && c.ProcessState.ExitCode() == unknownVerdict {
				exit = unknownVerdict
			}
			assert.Contains(t, string(out), k.says, line)
		}
		require.Equal(t, exit, c.ProcessState.ExitCode(), "%s:\n%s", line, out)
	}
}

// read returns a page, and whether the pages read before name it.
func (u *user) read(t *testing.T, name, before string) (page string, named bool) {
	t.Helper()
	switch {
	case name == "README":
		return text(t, filepath.Join(root, "README.md")), true
	case strings.HasPrefix(name, "docs/"):
		return text(t, filepath.Join(root, name)), strings.Contains(before, "]("+name)
	case name == "ssdprobe":
		name = ""
	}
	out, err := exec.CommandContext(t.Context(), u.binary, append(strings.Fields(name), "--help")...).Output()
	require.NoError(t, err, name)
	parent, command := "", name
	if i := strings.LastIndexByte(name, ' '); i > 0 {
		parent, command = name[:i], name[i+1:]
	}
	listed := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(command) + ` `).MatchString(before)
	return string(out), name == "" || listed && strings.Contains(before, "ssdprobe "+parent) || strings.Contains(before, "ssdprobe "+name)
}

// words returns the commands, flags and parameters in the ssdprobe calls of a line, which a user has to know.
func words(line string) []string {
	var all []string
	for _, call := range regexp.MustCompile(`\bssdprobe ([^|>)]*)`).FindAllStringSubmatch(line, -1) {
		for _, command := range regexp.MustCompile(`^([a-z-]+ )([a-z][a-z-]+)?`).FindAllString(call[1]+" ", 1) {
			all = append(all, strings.Fields(command)...)
		}
		all = append(all, regexp.MustCompile(`--[a-z.-]+`).FindAllString(call[1], -1)...)
	}
	return all
}

// Each task can be done. Its commands, flags and parameters are on few pages, each of which is
// named by an earlier one.
func TestTasks(t *testing.T) {
	u := newUser(t)
	require.Len(t, tasks, 30)
	looks, runs := 0, 0
	for _, k := range tasks {
		before := ""
		for _, look := range k.looks {
			page, named := u.read(t, look, before)
			assert.True(t, named, "%s: nothing that was read before names %s", k.wish, look)
			before += page
		}
		calls := strings.Count(strings.Join(k.runs, "\n"), "ssdprobe ")
		for _, line := range append(k.runs, k.beside) {
			for _, word := range words(line) {
				assert.Regexp(t, `(^|[^\w-])`+regexp.QuoteMeta(word)+`($|[^\w-])`, before, "%s: what was read does not say %s", k.wish, word)
			}
		}
		assert.LessOrEqual(t, len(k.looks), mostLooks, k.wish)
		assert.LessOrEqual(t, calls, mostCalls, k.wish)
		looks, runs = looks+len(k.looks), runs+len(k.runs)
		u.do(t, k)
		if t.Failed() {
			t.Fatalf("%s: the tasks after it build on it", k.wish)
		}
	}
	t.Logf("30 tasks: %d commands, %d looks into pages", runs, looks)
}
