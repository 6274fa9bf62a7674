package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

// In a small part of the fleet nothing is paged by mistake, and what is twice as slow is found.
func TestASmallFleet(t *testing.T) {
	o := options{years: 2, node: wholeFleet, fleet: drifttest.Fleet{Seed: 5, Days: 20, Interval: 2 * time.Minute}, settings: drift.Default()}
	if testing.Short() {
		o.years, o.fleet.Days = 0.01, 1 // a second of a CPU
	}
	total, err := fleet(t.Context(), o)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, total.years, o.years)
	assert.Zero(t, total.score.FalseDrives(verdicts.Severe).Events, "%+v", total.score.Wrong)

	var out bytes.Buffer
	require.NoError(t, total.score.WriteFleet(&out, true))
	assert.Contains(t, out.String(), "false verdicts about drives")
}
