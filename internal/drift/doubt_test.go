package drift_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A drive that collects garbage for minutes at a time gets more load than it ever had. In some blocks its tail is slower than the
// load explains, and in the others it is not.
func TestATailThatVariesIsNotSlowerUnderMoreLoad(t *testing.T) {
	for seed := range uint64(6) {
		track := drift.NewTracker(drift.Default())
		for r := range (drifttest.Stream{Kind: "load", Noise: "collecting", Seed: 41 + seed, Days: 10}).Rounds() {
			for _, e := range track.AddRound(r.Round, r.Conditions) {
				assert.NotEqual(t, record.Regressed, e.To, "%d: %+v", seed, e)
			}
		}
	}
}
