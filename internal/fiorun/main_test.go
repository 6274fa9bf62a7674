package fiorun_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// helperFile makes the test binary run fio on the given file for ever instead of its
// tests.
const helperFile = "FIORUN_HELPER_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(helperFile); file != "" {
		os.Exit(runForEver(file))
	}
	goleak.VerifyTestMain(m)
}

func runForEver(file string) int {
	binary, err := fiorun.Find(context.Background())
	if err != nil {
		return 1
	}
	job := endless(file)
	if _, err := binary.Run(context.Background(), fiorun.Request{Job: job}); err != nil {
		return 1
	}
	return 0
}

func real(t *testing.T) fiorun.Binary {
	t.Helper()
	testenv.Installed(t, "fio")
	b, err := fiorun.Find(t.Context())
	require.NoError(t, err)
	return b
}

// dataFile returns a file of random data.
func dataFile(t *testing.T) string {
	t.Helper()
	data := make([]byte, 4<<20)
	_, err := rand.Read(data)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

func reads(file string) fio.Options {
	return fio.Options{
		Filenames: []string{file}, RW: fio.RandRead, IOEngine: "libaio", Direct: new(true), Thread: new(true),
		BlockBytes: new(int64(4096)), SizeBytes: new(int64(4 << 20)), AllowFileCreate: new(false),
	}
}

func job(name string, o fio.Options) fio.Job {
	return fio.Job{Sections: []fio.Section{{Name: name, Options: o}}}
}

// endless returns a job of two readers that does not end by itself, slow enough to
// leave the machine to others.
func endless(file string) fio.Job {
	o := reads(file)
	o.NumJobs, o.TimeBased, o.Runtime = new(2), new(true), new(time.Hour)
	o.Extra = []fio.Option{{Key: "rate_iops", Value: "100"}}
	return job("endless", o)
}

// script returns a shell script that replaces fio.
func script(t *testing.T, text string) fiorun.Binary {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fio")
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return fiorun.Binary{Path: name, Version: fio.Version{Major: 3, Minor: 33}}
}

// marked marks the environment of all processes started from now on, and returns a
// function that lists those that still run.
func marked(t *testing.T) (left func() []int) {
	t.Helper()
	value := rand.Text()
	t.Setenv("FIORUN_TEST", value)
	return func() []int {
		var pids []int
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		require.NoError(t, err)
		for _, name := range files {
			environment, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(environment, []byte("FIORUN_TEST="+value)) {
				continue // ended, or not ours
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			require.NoError(t, err)
			pids = append(pids, pid)
		}
		return pids
	}
}

// parent reads the parent's process id from /proc/PID/stat.
func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	require.NoError(t, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	ppid, err := strconv.Atoi(string(fields[1]))
	require.NoError(t, err)
	return ppid
}
