package faulttest_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// seen is what one scrape reports about a hanging target. A missing series is -1.
type seen struct{ up, age float64 }

// watchMetrics scrapes until end is called, which returns everything that was seen of a probe.
func (d *daemon) watchMetrics(t *testing.T, id, probe string) (end func() []seen) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	var all []seen
	var failed error
	go func() {
		defer close(ended)
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-stop:
				return
			case <-again.C:
			}
			m, err := fetch(http.DefaultClient, d.url+"metrics")
			if errors.Is(err, errAgain) {
				continue
			}
			if err != nil {
				failed = err
				return
			}
			now := seen{-1, -1}
			if v, ok := m.value(t, "ssdprobe_target_up", labels{"id": id}); ok {
				now.up = v
			}
			if v, ok := m.value(t, "ssdprobe_probe_inflight_seconds", labels{"id": id, "probe": probe}); ok {
				now.age = v
			}
			all = append(all, now)
		}
	}()
	return func() []seen {
		close(stop)
		<-ended
		require.NoError(t, failed)
		return all
	}
}

func endOf(h *testenv.Hung) func(*testing.T) {
	return func(t *testing.T) { t.Helper(); h.End(t) }
}

// A hanging target stays visible as such in the metrics, without a gap, while its watch is
// replaced: by a reload, by drift accept and by baseline reset.
func TestWhatHangsIsKnownAcrossReplacements(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]func(*testing.T, filesystem) (release func(*testing.T)){
		"a filesystem whose server is gone": func(t *testing.T, f filesystem) func(*testing.T) {
			t.Helper()
			return endOf(testenv.HungFilesystem(t, f.dir))
		},
		"a write that does not return": func(t *testing.T, f filesystem) func(*testing.T) { t.Helper(); return freeze(t, f.dir) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := onFilesystem(t)
			release := hang(t, f)
			const probe = "durable-write-4k"
			hung := labels{"id": f.id, "probe": probe}
			eventually(t, "the round hangs", func() bool { return f.scrape(t).of(t, "ssdprobe_probe_inflight_seconds", hung) > 4 })
			f.awaitUp(t, f.id, false)

			end := f.watchMetrics(t, f.id, probe)
			for _, threshold := range []string{"0.3", "0.4"} {
				f.reload(t, f.configuration+"drift: {threshold: "+threshold+"}\n", saysReloaded)
				f.awaitMore(t, f.other, "durable-write-4k", "ok", 1)
			}
			dir, err := state.Open(f.state)
			require.NoError(t, err)
			for _, r := range []state.Request{{Target: f.id, Accept: "it is old"}, {Target: f.id}} {
				skip := len(f.Stderr.Text())
				left, _, err := dir.Submit(r)
				require.NoError(t, err)
				require.NotEmpty(t, left)
				f.Stderr.FindAfter(t, skip, `msg="request (carried out|refused)"`)
				f.awaitMore(t, f.other, "durable-write-4k", "ok", 1)
			}
			all := end()
			require.Greater(t, len(all), 10)
			for i, now := range all {
				require.Equal(t, 0.0, now.up, "scrape %d of %d", i, len(all))
				require.Greater(t, now.age, 4.0, "scrape %d of %d", i, len(all))
				if i > 0 {
					require.GreaterOrEqual(t, now.age, all[i-1].age, "scrape %d of %d", i, len(all))
				}
			}
			f.hasOneHungThreadAtMost(t)

			release(t)
			f.awaitMore(t, f.id, probe, "ok", 2)
			eventually(t, "nothing hangs between rounds", func() bool {
				_, ok := f.scrape(t).value(t, "ssdprobe_probe_inflight_seconds", hung)
				return !ok
			})
			f.goesOn(t)
		})
	}
}
