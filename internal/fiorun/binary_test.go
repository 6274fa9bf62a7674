package fiorun_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestFind(t *testing.T) {
	testenv.Installed(t, "fio")
	b, err := fiorun.Find(t.Context())
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), b.Path, "--version").Output()
	require.NoError(t, err)
	assert.Equal(t, b.Version.String()+"\n", string(out))
}

func TestFindWithoutFio(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := fiorun.Find(t.Context())
	require.ErrorIs(t, err, fiorun.ErrNotInstalled)
	assert.Equal(t, "find fio: fio is not installed: install version 3.28 or later "+
		"(apt install fio, dnf install fio, zypper install fio, apk add fio)", err.Error())
	_, err = fiorun.At(t.Context(), filepath.Join(t.TempDir(), "fio"))
	assert.ErrorIs(t, err, fiorun.ErrNotInstalled)
}

func TestAtRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an old one":        {"echo fio-3.12", "is fio-3.12: version 3.28 or later is needed"},
		"another program":   {"echo usage: something", `parse fio version "usage: something"`},
		"one that fails":    {"echo no libaio >&2; exit 127", "exit status 127: no libaio"},
		"one that is quiet": {"", `parse fio version ""`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fiorun.At(t.Context(), script(t, c.text).Path)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, name == "an old one", errors.Is(err, fiorun.ErrTooOld))
		})
	}
	plain := filepath.Join(t.TempDir(), "fio")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	_, err := fiorun.At(t.Context(), plain)
	assert.ErrorIs(t, err, os.ErrPermission)
}

func TestAtIsCancelled(t *testing.T) {
	left := marked(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", fifo).Run())
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		// Opening the FIFO blocks until the script opens it.
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		cancel(errors.Join(enough, err))
		if err == nil {
			_ = f.Close()
		}
	}()
	_, err := fiorun.At(ctx, script(t, "exec 4<"+fifo+"; sleep 1000").Path)
	require.ErrorIs(t, err, enough)
	assert.Empty(t, left())
}

func TestCheckEngine(t *testing.T) {
	b := real(t)
	require.NoError(t, b.CheckEngine(t.Context(), "libaio"))
	require.NoError(t, b.CheckEngine(t.Context(), "psync"))
	require.ErrorIs(t, b.CheckEngine(t.Context(), "nosuch"), fiorun.ErrEngine)

	// Only fio itself shows whether io_uring can really be used.
	o := reads(dataFile(t))
	o.IOEngine, o.Extra = "io_uring", []fio.Option{{Key: "number_ios", Value: "1"}}
	_, tried := b.Run(t.Context(), fiorun.Request{Job: job("ring", o)})
	checked := b.CheckEngine(t.Context(), "io_uring")
	assert.Equal(t, tried == nil, checked == nil, "tried: %v; checked: %v", tried, checked)
}

// fio runs in a different directory than the one to which its path was relative.
func TestAtOfARelativePath(t *testing.T) {
	stub := script(t, "echo fio-3.33").Path
	t.Chdir(filepath.Dir(stub))
	b, err := fiorun.At(t.Context(), "./fio")
	require.NoError(t, err)
	assert.Equal(t, stub, b.Path)
}
