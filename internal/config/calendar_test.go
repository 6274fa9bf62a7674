package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// Each time of day comes once a day, also on those on which clocks change. The daemon asks every minute, so the answer must not
// depend on when it asked before.
func TestTimesWhenClocksChange(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, zone, now, next string
	}{
		"skipped, asked before the change":         {"30 2 * * *", "Europe/Berlin", "2027-03-28T01:59:00+01:00", "2027-03-28T03:30:00+02:00"},
		"skipped, asked after the change":          {"30 2 * * *", "Europe/Berlin", "2027-03-28T03:10:00+02:00", "2027-03-28T03:30:00+02:00"},
		"skipped, over":                            {"30 2 * * *", "Europe/Berlin", "2027-03-28T03:30:00+02:00", "2027-03-29T02:30:00+02:00"},
		"skipped, west of Greenwich":               {"30 2 * * *", "America/New_York", "2027-03-14T03:10:00-04:00", "2027-03-14T03:30:00-04:00"},
		"skipped midnight":                         {"0 0 * * 0", "America/Santiago", "2026-09-05T23:59:00-04:00", "2026-09-06T01:00:00-03:00"},
		"after the skipped hour":                   {"30 3 * * *", "Europe/Berlin", "2027-03-28T03:10:00+02:00", "2027-03-28T03:30:00+02:00"},
		"repeated, the first":                      {"30 2 * * *", "Europe/Berlin", "2026-10-25T02:29:00+02:00", "2026-10-25T02:30:00+02:00"},
		"repeated, not again":                      {"30 2 * * *", "Europe/Berlin", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		"repeated, asked in between":               {"30 2 * * *", "Europe/Berlin", "2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00"},
		"repeated, west of Greenwich":              {"30 1 * * *", "America/New_York", "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		"after the repeated hour":                  {"30 3 * * *", "Europe/Berlin", "2026-10-25T02:45:00+02:00", "2026-10-25T03:30:00+01:00"},
		"every hour, also the repeated one":        {"0 * * * *", "Europe/Berlin", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"},
		"by half an hour, the midnight after that": {"0 0 * * *", "Australia/Lord_Howe", "2026-04-05T00:00:00+11:00", "2026-04-06T00:00:00+10:30"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, test.now)
			require.NoError(t, err)
			next, err := config.Calendar{Schedule: test.schedule, TimeZone: test.zone}.Next(now)
			require.NoError(t, err)
			assert.Equal(t, test.next, next.Format(time.RFC3339))
		})
	}
}
