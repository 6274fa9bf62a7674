package fiorun_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// Where fio does not count all that it does, the kernel does: in a ramp time, on several devices, and
// through the page cache.
func TestOthersWhereFioDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		devices int
		change  func(*fio.Options)
	}{
		"ramp":            {1, func(o *fio.Options) { o.RampTime = new(500 * time.Millisecond) }},
		"several devices": {2, func(*fio.Options) {}},
		"page cache":      {1, func(o *fio.Options) { o.Direct, o.RW = new(false), fio.RandRW }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var watch fiorun.Watch
			var j fio.Job
			var loops []testenv.Loop
			for range c.devices {
				loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
				o := reads(loop.Path)
				o.TimeBased, o.Runtime, o.SizeBytes = new(true), new(time.Second), nil
				c.change(&o)
				j.Sections = append(j.Sections, fio.Section{Name: "reads", Options: o})
				watch.Groups = append(watch.Groups, loop.Number)
				loops = append(loops, loop)
			}
			if c.devices == 1 {
				watch.Device = loops[0].Number
			}
			step := func() record.Step {
				run, err := real(t).Run(t.Context(), fiorun.Request{Job: j, Watch: watch})
				require.NoError(t, err)
				require.NotNil(t, run.Seen.Moved)
				return run.Steps()[0]
			}
			alone := step()
			assert.NotContains(t, codesOf(alone), record.WarnOthersActive)
			assert.NotContains(t, codesOf(alone), record.WarnLoadBlind)
			assert.Less(t, alone.OthersRatio, 0.02)

			stop := readBeside(t, loops[len(loops)-1])
			defer stop()
			disturbed := step()
			assert.Contains(t, codesOf(disturbed), record.WarnOthersActive)
			assert.Greater(t, disturbed.OthersRatio, 0.02)
		})
	}
}

// readBeside reads a device with another fio until stop is called.
func readBeside(t *testing.T, loop testenv.Loop) (stop func()) {
	o := reads(loop.Path)
	o.TimeBased, o.Runtime, o.SizeBytes, o.IODepth, o.BlockBytes = new(true), new(time.Hour), nil, new(8), new(int64(64<<10))
	ctx, cancel := context.WithCancelCause(t.Context())
	fioRun := real(t).Run
	reading, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		_, err := fioRun(ctx, fiorun.Request{Job: job("others", o), ReadOnly: true, Progress: func(s fio.Status) {
			if s.Rates != nil && s.Rates.ReadBytesPerSecond > 0 {
				select {
				case reading <- struct{}{}:
				default:
				}
			}
		}})
		ended <- err
	}()
	select {
	case <-reading:
	case err := <-ended:
		require.NoError(t, errors.Join(err, errors.New("the other fio ended")))
	}
	return func() {
		cancel(errors.New("enough"))
		require.NoError(t, <-ended)
	}
}
