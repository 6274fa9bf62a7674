package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// While a round hangs, further attempts report no new beginning, and the end is reported once.
func TestOurIOBeginsOnceWhileARoundHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, begun, ended := newAccess(), 0, 0
		begin := func() (*record.Work, func()) { begun++; return &record.Work{}, func() { ended++ } }
		release := make(chan struct{})
		for try := range 100 {
			others, over := a.ours(begin)
			assert.Equal(t, try == 0, others != nil)
			_, err := guard.Do(t.Context(), &a.guard, time.Second, func(context.Context) (int, error) { <-release; return 0, nil })
			require.Error(t, err)
			over()
		}
		assert.Equal(t, 1, begun)
		assert.Zero(t, ended)
		close(release)
		synctest.Wait()
		assert.Equal(t, 1, ended)
		_, over := a.ours(begin)
		over()
		assert.Equal(t, []int{2, 2}, []int{begun, ended})
	})
}
