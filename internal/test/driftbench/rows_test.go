package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

// This is a small part of `make drift-bench`, so that no change of the judge breaks what has to hold.
func TestWhatHasToHold(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute of a CPU")
	}
	t.Run("never less likely when worse", func(t *testing.T) {
		scenarios := map[string]drifttest.Scenario{}
		for _, u := range []float64{0.05, 0.9} {
			for _, slower := range []float64{1, 1.3, 2, 10} {
				r := drifttest.Reacting{Utilisation: u, Wave: 0.1, Slower: slower, Seed: 5, Days: 4}
				scenarios[fmt.Sprintf("%g %g", u, slower)] = r.Scenario()
			}
		}
		s, err := judgeAll(scenarios, drift.Default())
		require.NoError(t, err)
		reached(t,
			within("2 × and more", s, 10*time.Minute, "x2", "x10"),
			within("1.3 ×", s, 45*time.Minute, "x1.3"),
			none("false alarms", s.Wrong))
	})
	t.Run("a node", func(t *testing.T) {
		scenarios := map[string]drifttest.Scenario{}
		for _, kind := range []string{"one", "host"} {
			scenarios[kind] = drifttest.Node{Kind: kind, Noise: "calm", Seed: 5, Drives: 8, Days: 4}.Scenario()
		}
		s, err := judgeAll(scenarios, drift.Default())
		require.NoError(t, err)
		reached(t,
			within("2 ×", s, 10*time.Minute, "double"),
			within("+20 %", s, 2*time.Hour, "step20"),
			within("host +20 %", s, time.Hour, "host20"),
			none("blamed falsely", s.Wrong))
	})
}

func reached(t *testing.T, rows ...row) {
	t.Helper()
	for _, r := range rows {
		assert.True(t, r.reached, "%s: wanted %s, seen %s", r.what, r.wanted, r.seen)
	}
}

func TestRowsSayWhatWasMissed(t *testing.T) {
	late := judged{}
	late.Found = map[verdicts.Kind]*verdicts.Found{
		{Kind: "double", Noise: "calm"}:   {Episodes: 2, Delays: []time.Duration{time.Minute, 20 * time.Minute}},
		{Kind: "double", Noise: "wander"}: {Episodes: 1, Missed: []string{"w"}},
	}
	r := within("2 ×", late, 10*time.Minute, "double")
	assert.False(t, r.reached)
	assert.Equal(t, "2 of 3, median 20.0 min, worst never; not [w]; late map[calm:1]", r.seen)
	assert.True(t, within("2 ×", late, time.Hour, "none").reached)
	assert.False(t, median("2 ×", late, "double", time.Hour).reached)

	var out bytes.Buffer
	require.NoError(t, writeRows(&out, []row{r, none("false alarms", nil)}))
	assert.Regexp(t, `(?m)^2 × .*MISSED\nfalse alarms +none +none +reached$`, out.String())
}

func TestPartsAreKnown(t *testing.T) {
	require.NoError(t, options{only: "alone,nodes,cost"}.known())
	require.EqualError(t, options{only: "nodez"}.known(), `-only: "nodez" is no part; want some of alone,reacting,nodes,roles,fast,traffic,cost`)
}
