package state_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// A daemon that ends after it stored the answer, but before it removed the request, has carried the request
// out.
func TestARequestIsNotCarriedOutAfterItsAnswer(t *testing.T) {
	dir, lock, err := state.Hold(t.TempDir())
	require.NoError(t, err)
	b := baseline()
	name, err := dir.Leave(state.Request{Target: id, Probe: "read-4k", Import: &b})
	require.NoError(t, err)
	_, found, err := dir.TakeAnswer(name)
	require.NoError(t, err)
	assert.False(t, found, "the daemon runs")
	require.NoError(t, dir.Save("answers", name, state.Answer{Refused: "it is pinned"}))
	require.NoError(t, lock.Release())
	answer, found, err := dir.TakeAnswer(name)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, "it is pinned", answer.Refused)
	names, err := dir.Requests()
	require.NoError(t, err)
	assert.Empty(t, names)
	_, found, err = dir.Target(id)
	require.NoError(t, err)
	assert.False(t, found)
}

func TestRequestsAreTidied(t *testing.T) {
	dir := open(t)
	now := time.Now()
	for name, ago := range map[string]time.Duration{"old": 11 * time.Minute, "new": time.Minute} {
		require.NoError(t, dir.AnswerRequest(name, state.Answer{Time: now.Add(-ago)}))
	}
	asked, err := dir.Leave(state.Request{Target: "eui.1"})
	require.NoError(t, err)
	for _, kind := range []string{"requests", "answers"} {
		damaged := filepath.Join(dir.Dir(), kind, "damaged.json")
		require.NoError(t, os.WriteFile(damaged, []byte("{"), 0o600))
		aside := new(store.DamagedError)
		require.ErrorAs(t, dir.TidyRequests(now), &aside)
		assert.Equal(t, damaged, aside.Path)
		content, err := os.ReadFile(aside.SetAside)
		require.NoError(t, err)
		assert.Equal(t, "{", string(content))
		require.NoError(t, dir.TidyRequests(now), "it is told once")
	}
	answers, err := dir.Names("answers")
	require.NoError(t, err)
	assert.Equal(t, []string{"new"}, answers)
	requests, err := dir.Requests()
	require.NoError(t, err)
	assert.Equal(t, []string{asked}, requests)
}

func TestRequestsOfLongAgoAreTooLate(t *testing.T) {
	now := time.Now()
	require.NoError(t, state.Request{Asked: now.Add(-9 * time.Minute)}.InTime(now))
	require.NoError(t, state.Request{}.InTime(now), "those of earlier versions say no time")
	require.ErrorIs(t, state.Request{Asked: now.Add(-11 * time.Minute)}.InTime(now), state.ErrTooLate)
	require.ErrorContains(t, state.ErrTooLate, "more than 10 minutes ago; ask again")
}
