package faulttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// runQuick returns the arguments of a short run of fio in a directory.
func runQuick(t *testing.T, dir string, more ...string) []string {
	t.Helper()
	config := file(t, "c.yaml", "lock_dir: "+t.TempDir()+"\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n")
	return append([]string{"run", "quick", "--config", config, "--state-dir", t.TempDir(), "-t", dir, "--size", "16MiB", "-o", "json"}, more...)
}

// otherFio returns an environment in which fio is a shell script.
func otherFio(t *testing.T, script string) []string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fio"), []byte("#!/bin/sh\n"+script), 0o700))
	return []string{"PATH=" + dir}
}

// assertClean checks that a run has left nothing behind: no file, and no process with the word in
// its command line or environment.
func assertClean(t *testing.T, dir, word string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Empty(t, processes(t, word))
}

// processes returns the processes with a word in their command line, except this one.
func processes(t *testing.T, word string) []int {
	t.Helper()
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []int
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a process may end meanwhile
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(list)))
		require.NoError(t, err)
		if pid != os.Getpid() && strings.Contains(string(text), word) {
			found = append(found, pid)
		}
	}
	return found
}

// answersVersion is the part of a script that makes ssdprobe accept it as fio.
const answersVersion = `[ "$1" = --version ] && { echo fio-3.33; exit 0; }
[ "$1" = --enghelp ] && { echo libaio io_uring; exit 0; }
`

func TestFioOfAnotherKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, says string }{
		"no version":        {`echo 42`, `version`},
		"too old":           {`echo fio-2.1`, `version 3.28 or later is needed`},
		"fails":             {answersVersion + `echo "no engine" >&2; exit 3`, `exit status 3.*no engine`},
		"prints garbage":    {answersVersion + `while :; do echo "{{{{ [[["; echo '{"fio version": 7' >&3; n=x$n; [ ${#n} -gt 1000 ] && exit 0; done`, `fio`},
		"prints nothing":    {answersVersion + `exit 0`, `fio`},
		"prints other JSON": {answersVersion + `echo '{"jobs": "none"}' >&3`, `fio`},
		"kills itself":      {answersVersion + `kill -KILL $$`, `signal: killed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testenv.OnDisk(t)
			got := ssdprobe(t, otherFio(t, c.script), runQuick(t, dir, "--set", "time=200ms")...)
			assert.Equal(t, 1, got.code, got.stderr)
			assert.Empty(t, got.stdout, "no report of what was not measured")
			assert.Regexp(t, `(?m)^ssdprobe: .*`+c.says, got.stderr)
			assertClean(t, dir, "no-such-word")
		})
	}
}

func TestFioMissing(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	got := ssdprobe(t, []string{"PATH=" + t.TempDir()}, runQuick(t, dir)...)
	assert.Equal(t, 1, got.code)
	assert.Empty(t, got.stdout)
	assert.Contains(t, got.stderr, "fio is not installed: install version 3.28 or later (apt install fio")
	assertClean(t, dir, "no-such-word")
}

// fio hangs, as a version of it did on its own shared memory, and ignores Ctrl-C.
func TestFioHangs(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	word := fmt.Sprintf("98765.%d", os.Getpid()) // the seconds that it sleeps, a unique number
	p := start(t, otherFio(t, answersVersion+"trap '' INT TERM\n/bin/sleep "+word+" & exec /bin/sleep "+word), runQuick(t, dir, "--set", "time=10m")...)
	eventually(t, "it hangs", func() bool { return len(processes(t, word)) == 2 })
	p.Signal(t, syscall.SIGINT)
	assert.Equal(t, 130, p.Wait(t))
	assertClean(t, dir, word)
}

func TestFioIsKilled(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	p := start(t, nil, runQuick(t, dir, "--set", "time=10m")...)
	eventually(t, "fio works on the file, and is killed", func() bool {
		killed := false
		for _, pid := range workingOn(t, dir) {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed // it may have ended
		}
		return killed
	})
	assert.Equal(t, 1, p.Wait(t))
	assert.Empty(t, p.Stdout.Text())
	assert.Regexp(t, `(?m)^ssdprobe: .*signal: killed`, p.Stderr.Text())
	assert.Empty(t, workingOn(t, dir))
	assertClean(t, dir, dir)
}

// workingOn returns the fio processes that have a file below dir open.
func workingOn(t *testing.T, dir string) []int {
	t.Helper()
	lists, err := filepath.Glob("/proc/[0-9]*/comm")
	require.NoError(t, err)
	var found []int
	for _, comm := range lists {
		name, _ := os.ReadFile(comm) // a process may end meanwhile
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(comm), "fd", "*"))
		for _, fd := range files {
			if target, _ := os.Readlink(fd); strings.HasPrefix(string(name), "fio") && strings.HasPrefix(target, dir+"/") {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(comm)))
				require.NoError(t, err)
				found = append(found, pid)
				break
			}
		}
	}
	return found
}
