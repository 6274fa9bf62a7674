package daemon

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A drive on which a probe file cannot be filled is not written all day: each attempt is put off for longer.
func TestAFillThatFailsIsTriedAgainLessAndLessSoon(t *testing.T) {
	dir := testenv.Ext4(t, 300<<20, "-O", "^extent,^64bit") // which cannot reserve space
	w := watchFile(t, nil).replaced(t, func(s *spec) {
		s.Path, s.FileBytes, s.FillBytesPerSecond = dir, 1<<30, 8<<20
	})
	others := filepath.Join(dir, "others")
	for i := range 2 {
		filled := make(chan error, 1)
		go func() { filled <- w.open(t.Context()) }()
		testenv.Eventually(t, "it is being filled", func() bool { return strings.Contains(w.problemNow(), "filling the probe file") })
		f, err := os.Create(others)
		require.NoError(t, err)
		_, err = io.Copy(f, zeros{})
		require.ErrorIs(t, err, unix.ENOSPC)
		require.NoError(t, f.Close())
		require.ErrorIs(t, <-filled, unix.ENOSPC)
		assert.Equal(t, reopenAfter<<(i+1), w.reopenIn())

		require.ErrorContains(t, w.open(t.Context()), "too little space")
		assert.Equal(t, reopenAfter<<(i+1), w.reopenIn(), "nothing was written")
		require.NoError(t, os.Remove(others))
		w.setProblem("")
	}
	require.NoError(t, w.open(t.Context()))
	defer w.closeTarget()
	assert.Equal(t, reopenAfter, w.reopenIn())
}
