package measure_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// filled opens a probe file on a drive that takes so long for each MiB of it.
func filled(t *testing.T, o measure.Options, each time.Duration) (err error) {
	t.Helper()
	dir := testenv.OnDisk(t)
	synctest.Test(t, func(t *testing.T) {
		o.Guard = &guard.Guard{}
		o.Filling = func(int64, int64) { <-time.After(each) }
		var s *measure.Session
		target := measure.UnknownFile(dir, 16<<20, 128<<20).Target
		if s, err = measure.Open(context.Background(), target, o); err == nil {
			err = s.Close()
		}
		over := make(chan struct{})
		o.Guard.Finally(func() { close(over) })
		<-over
	})
	return err
}

// However slow a drive is, its probe file is filled once. A fill that is given up begins again from its start, for ever.
func TestASlowFillIsNotGivenUp(t *testing.T) {
	require.NoError(t, filled(t, options(t), time.Minute))
}

func TestAFillThatHangsIsGivenUp(t *testing.T) {
	assert.True(t, guard.Hangs(filled(t, options(t), time.Hour)))
}
