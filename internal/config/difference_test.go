package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// A built-in probe of which some keys are changed keeps its other values.
func TestBuiltInProbesKeepTheirValues(t *testing.T) {
	c, err := parse("probes:\n- {name: read-4k, interval: 20s}\n- {name: read-128k, interval: 20s}\n- {interval: 20s, name: durable-write-4k}\n- {name: mine, interval: 20s}\n")
	require.NoError(t, err)
	want := config.Default().Probes
	mine := want[0]
	mine.Name = "mine"
	want = append(want, mine)
	for i := range want {
		want[i].Interval = 20 * time.Second
	}
	assert.Equal(t, want, c.Probes)
}

func TestDifferences(t *testing.T) {
	assert.Empty(t, config.Default().Since(config.Default()))
	c, err := parse("fill_rate: 8MiB\nprobes:\n- {name: read-4k, interval: 20s}\n- {name: durable-write-4k}\n- {name: mine, ios: 64}\nfiles: [{path: /srv/data, size: 64MiB}]\nquiet_hours: [{schedule: 0 8 * * 1-5, duration: 10h}]\n")
	require.NoError(t, err)
	got := map[string]config.Difference{}
	for _, d := range c.Since(config.Default()) {
		got[d.Key] = d
	}
	assert.Equal(t, config.Difference{Key: "probes[read-4k].interval", Value: "20s", Before: "30s"}, got["probes[read-4k].interval"])
	assert.Equal(t, "probes[read-4k].interval: 30s → 20s", got["probes[read-4k].interval"].String())
	assert.Contains(t, got["probes[mine]"].String(), "probes[mine]: added {name: mine")
	assert.Equal(t, "probes[read-128k]: left out", got["probes[read-128k]"].String())
	assert.Equal(t, "8MiB", got["fill_rate"].Value)
	assert.Empty(t, got["probes[read-128k]"].Value)
	assert.NotEmpty(t, got["probes[read-128k]"].Before)
	assert.Empty(t, got["probes[mine]"].Before)
	assert.Equal(t, "{path: /srv/data, size: 64MiB}", got["files"].Value[1:len(got["files"].Value)-1])
	assert.Equal(t, "[]", got["files"].Before)
	assert.Contains(t, got["quiet_hours"].Value, "10h")
	assert.Len(t, got, 6)
}
