package daemon

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A drive on which a probe file cannot be filled is not written all day: each attempt is put off for longer.
func TestAFillThatFailsIsTriedAgainLessAndLessSoon(t *testing.T) {
	dir := testenv.Ext4(t, 300<<20, "-O", "^extent,^64bit") // which cannot reserve space
	w := watchFile(t, nil).replaced(t, func(s *spec) {
		s.Path, s.FileBytes, s.FillBytesPerSecond = dir, 1<<30, 1<<20 // so that the others are faster
	})
	others := filepath.Join(dir, "others")
	for i := range 2 {
		filled := make(chan error, 1)
		go func() { filled <- w.open(t.Context()) }()
		testenv.Eventually(t, "it is being filled", func() bool { return strings.Contains(w.opener.problem(), "filling the probe file") })
		f, err := os.Create(others)
		require.NoError(t, err)
		_, err = io.Copy(f, zeros{})
		require.ErrorIs(t, err, unix.ENOSPC)
		require.NoError(t, f.Close())
		require.ErrorIs(t, <-filled, unix.ENOSPC)
		assert.Equal(t, reopenAfter<<(i+1), w.opener.reopenIn())

		require.ErrorContains(t, w.open(t.Context()), "too little space")
		assert.Equal(t, reopenAfter<<(i+1), w.opener.reopenIn(), "nothing was written")
		require.NoError(t, os.Remove(others))
		w.opener.setProblem("")
	}
	w.spec.FillBytesPerSecond = 0
	require.NoError(t, w.open(t.Context()))
	defer w.opener.close()
	assert.Equal(t, reopenAfter, w.opener.reopenIn())
}

// Two of us may want one file in different sizes, under two names of its directory, or somebody removes it each time.
func TestAProbeFileThatIsLostAgainAndAgainIsFilledLessAndLessSoon(t *testing.T) {
	w := watchFile(t, nil).replaced(t, nil)
	lose := func() {
		w.opener.close()
		require.NoError(t, os.RemoveAll(filepath.Join(w.spec.Path, "ssdprobe.dat")))
	}
	for i := range 4 {
		lose()
		require.NoError(t, w.open(t.Context()))
		assert.Equal(t, reopenAfter<<(i+1), w.opener.refillAt().Sub(w.opener.filled))
	}
	lose()
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go w.Run(ctx)
	testenv.Eventually(t, "it says why", func() bool {
		return strings.Contains(w.opener.problem(), "was filled 4 times and is gone or another one again")
	})
	cancel()
	<-w.done
	assert.NoFileExists(t, filepath.Join(w.spec.Path, "ssdprobe.dat"))

	w.opener.filledAt(w.opener.filled.Add(48 * time.Hour))
	assert.Equal(t, 1, w.opener.fills, "long ago does not count")
	assert.False(t, w.opener.waitsForRefill(t.Context()), "it may be lost once")
}

// A filesystem may be missing for weeks, and is looked for four times a minute.
func TestWhyATargetCannotBeOpenedIsLoggedWhenItIsNew(t *testing.T) {
	w := watchFile(t, nil).replaced(t, nil)
	book := &logbook{}
	w.log = book.timeless()
	for range 3 {
		w.opener.tellUnopened("it is not mounted", reopenAfter)
	}
	assert.Equal(t, 1, book.count("cannot open the target"))
	w.opener.tellUnopened("no permission", reopenAfter)
	assert.Equal(t, 2, book.count("cannot open the target"))
	assert.Equal(t, "no permission", w.opener.problem())
	require.NoError(t, w.open(t.Context()))
	w.opener.close()
	assert.Equal(t, 1, book.count("the target is open again"))
	assert.Empty(t, w.opener.problem())
	w.opener.tellUnopened("no permission", reopenAfter)
	assert.Equal(t, 3, book.count("cannot open the target"))
}

// A reload while the disk is full forgets nothing that was learned since it was not.
func TestAWatchThatIsReplacedWhileTheDiskIsFull(t *testing.T) {
	w := watchFile(t, nil).replaced(t, nil)
	disk := testenv.Ext4(t, 8<<20)
	dir, err := state.Open(filepath.Join(disk, "state"))
	require.NoError(t, err)
	s := newStorage(dir, slog.New(slog.DiscardHandler))
	w.shared.state = s
	w.save(t.Context(), saveTimeout)
	require.Empty(t, s.problems)

	others, err := os.Create(filepath.Join(disk, "others"))
	require.NoError(t, err)
	_, err = io.Copy(others, zeros{})
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, others.Close())
	writes := slices.IndexFunc(w.rounds.probes, func(p *probeState) bool { return p.probe.Direction == record.Write })
	w.rounds.probes[writes].budget.Charge(time.Now(), 1000, 1000)
	w.save(t.Context(), saveTimeout)
	require.Contains(t, s.problems, w.spec.ID)
	again := newWatch(w.spec, sighting{}, w.access, w.shared)
	assert.Equal(t, w.rounds.probes[writes].budget, again.rounds.probes[writes].budget)
	require.ErrorIs(t, s.flush(t.Context(), w.spec.ID), unix.ENOSPC, "so a request changes nothing")

	require.NoError(t, os.Remove(others.Name()))
	require.NoError(t, s.flush(t.Context(), w.spec.ID))
	assert.Empty(t, s.unsaved)
	again = newWatch(w.spec, sighting{}, w.access, w.shared)
	assert.WithinDuration(t, w.rounds.probes[writes].budget.PaidOff, again.rounds.probes[writes].budget.PaidOff, 0)
}

// A directory that is removed is not replaced by a file of its name: it could not be made again.
func TestADirectoryThatIsGoneIsNotMadeAFile(t *testing.T) {
	w := watchFile(t, nil).replaced(t, func(s *spec) { s.Path = filepath.Join(s.Path, "data") })
	dir := w.spec.Path
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, w.open(t.Context()))
	w.opener.close()
	require.NoError(t, os.RemoveAll(dir))

	again := newWatch(w.spec, w.seen, w.access, w.shared) // after a restart
	for _, w := range []*watch{w, again} {
		require.ErrorContains(t, w.open(t.Context()), "the directory "+dir+" is gone, and no probe file is made in its place")
		assert.NoFileExists(t, dir)
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, again.open(t.Context()))
	again.opener.close()
}

// A file of somebody that is removed, such as the image of a virtual machine, is not replaced by one of random data.
func TestAFileOfOthersThatIsGoneIsNotMadeAnew(t *testing.T) {
	w := watchFile(t, nil).replaced(t, func(s *spec) { s.Path = filepath.Join(s.Path, "vm.img") })
	image := bytes.Repeat([]byte("their data"), 1<<20)
	require.NoError(t, os.WriteFile(w.spec.Path, image, 0o600))
	require.NoError(t, w.open(t.Context()))
	require.True(t, w.opener.session.ReadOnly)
	w.opener.close()
	require.NoError(t, os.Remove(w.spec.Path))

	again := newWatch(w.spec, w.seen, w.access, w.shared) // after a restart
	for _, w := range []*watch{w, again} {
		require.ErrorContains(t, w.open(t.Context()), "the file "+w.spec.Path+" is gone, and no probe file is made in its place")
		assert.NoFileExists(t, w.spec.Path)
	}
	require.NoError(t, os.WriteFile(w.spec.Path, image, 0o600))
	require.NoError(t, again.open(t.Context()))
	again.opener.close()
}

// A scheduled run does not make its file on another filesystem either. It waits.
func TestAScheduledRunWaitsForTheFilesystemOfItsFile(t *testing.T) {
	w := watchFile(t, nil).replaced(t, nil)
	w.opener.place = place{mountPoint: w.spec.Path, directory: true} // where nothing is mounted now
	c := &calendar{shared: w.shared, watches: func() map[string]*watch { return nil }}
	_, err := c.attempt(t.Context(), w, config.Run{Suite: "quick", Set: []string{"time=1s"}, MaxCPUPressure: 1, MaxOthers: 1})
	require.ErrorContains(t, err, "the filesystem at "+w.spec.Path+" is not mounted, and no probe file is made on the one at ")
	assert.Equal(t, busyRetry, c.waitAfter(err))
	assert.NoFileExists(t, filepath.Join(w.spec.Path, "ssdprobe.dat"))

	require.True(t, w.access.turn.try())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.opener.isThere(ctx), errBusy, "a fill is not waited for: runs on other targets may be due")
	w.access.turn.end()
}
