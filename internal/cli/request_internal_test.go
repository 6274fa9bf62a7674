package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/state"
)

// The time limit is for all requests together, and the answers that did arrive are printed.
func TestOneMinuteForAllRequests(t *testing.T) {
	dir, lock, err := state.Hold(t.TempDir())
	require.NoError(t, err)
	var all []left
	for _, done := range []string{"first done", "second done", "third done"} {
		name, err := dir.Leave(state.Request{Target: "eui.1"})
		require.NoError(t, err)
		all = append(all, left{asked{done: done}, name})
	}
	require.NoError(t, dir.AnswerRequest(all[1].name, state.Answer{}))
	synctest.Test(t, func(t *testing.T) {
		var says bytes.Buffer
		a := &app{stderr: &says}
		began := time.Now()
		require.ErrorIs(t, a.await(t.Context(), dir, all), errPatience)
		assert.Equal(t, answerPatience, time.Since(began)) // on the clock of the synctest bubble
		assert.Equal(t, "second done\n", says.String())
	})
	require.NoError(t, lock.Release())
}
