package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// discovery returns a daemon that discovers on a made-up machine.
func (b bench) discovery() *Daemon {
	b.t.Helper()
	state, err := store.Open(b.t.TempDir())
	require.NoError(b.t, err)
	return &Daemon{
		shared: &shared{
			fs: sysfs.New(b.root), log: b.log.timeless(), store: state, stateProblems: map[string]error{},
			latencies: export.NewLatencies(), slots: make(chan struct{}, 1),
		},
		config: b.config, watches: map[string]*watch{}, ways: map[string]*access{}, health: b.keeper, file: &configFile{},
	}
}

// While the host cannot be looked at, what is watched stays, and so does the reader of its health.
func TestAScanThatHangsEndsNothing(t *testing.T) {
	smartctl(t, "captured/ata")
	b := newBench(t)
	d := b.discovery()
	t.Cleanup(d.stopAll)
	d.start(t.Context(), context.WithoutCancel(t.Context()), wanted{
		spec: spec{Target: measure.Target{ID: "s1", Path: "/dev/sda"}, Unresolved: true}, seen: sighting{device: sata()},
	})
	b.follow(sata())
	before := b.status(sata())
	require.Equal(t, []string{"s1"}, before.Devices)
	readers := b.current()
	require.Len(t, readers, 1)

	back := make(chan struct{})
	defer close(back)
	_, err := guard.Do(t.Context(), &d.scanning, time.Millisecond, func(context.Context) (scan, error) { <-back; return scan{}, nil })
	require.Error(t, err)
	d.reconcile(t.Context(), context.WithoutCancel(t.Context()))
	require.Contains(t, d.discovered.Error, "has not returned yet")
	assert.Contains(t, d.current(), "s1")
	assert.Equal(t, readers, b.current())
	assert.Equal(t, record.ControllerDrive, b.status(sata()).Kind)
}
