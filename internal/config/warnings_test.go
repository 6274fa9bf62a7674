package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMoreWritesThanTheBudgetAreWarnedAbout(t *testing.T) {
	const (
		write = "direction: write, pattern: sequential, datasync: true, timeout: 5s, targets: files"
		one   = "probes: [{name: w, block_size: 4KiB, ios: 256, interval: 1m, " + write + "}]\n"
		two   = "probes: [{name: w, block_size: 4KiB, ios: 256, interval: 1m, " + write + "}, {name: v, block_size: 64KiB, ios: 256, interval: 12h, " + write + "}]\n"
	)
	for text, want := range map[string][]string{
		"admission: {write_budget_per_day: 2GiB}\n" + one: {},
		"admission: {write_budget_per_day: 0}\n" + one:    {},
		"admission: {write_budget_per_day: 720MiB}\n" + one: {
			"probe w writes 1.5 GiB a day to each file, more than its share of admission.write_budget_per_day, 720 MiB: 52 % of its rounds are skipped",
		},
		"admission: {write_budget_per_day: 30MiB}\n" + two: {
			"probe w writes 1.5 GiB a day to each file, more than its share of admission.write_budget_per_day, 15 MiB: 99 % of its rounds are skipped",
			"a round of probe v writes 16.5 MiB, more than its share of admission.write_budget_per_day, 15 MiB: it never runs",
		},
	} {
		c, err := parse(text)
		require.NoError(t, err)
		var got []string
		for _, w := range c.Warnings() {
			if assert.NotContains(t, w, "skipped from"); len(want) == 0 {
				assert.NotContains(t, w, "write_budget_per_day")
			} else {
				got = append(got, w)
			}
		}
		assert.Subset(t, got, want)
	}
}

// A run whose whole window is quiet every time is refused every time.
func TestRunsThatNeverBeginAreWarnedAbout(t *testing.T) {
	const never = `runs[0].schedule: "30 2 * * *" is always within quiet_hours, and so is the whole window of 2h: the run never begins; want another time, or a longer window`
	for quiet, want := range map[string][]string{
		"{schedule: 0 22 * * *, time_zone: UTC, duration: 8h}":                                                            {never},
		"{schedule: 0 2 * * *, time_zone: UTC, duration: 1h}, {schedule: 0 3 * * *, time_zone: UTC, duration: 2h}":        {never},
		"{schedule: 0 22 * * *, time_zone: UTC, duration: 6h}":                                                            {},
		"{schedule: 0 22 * * 1-6, time_zone: UTC, duration: 8h}":                                                          {},
		"{schedule: 0 3 * * *, time_zone: UTC, duration: 8h}":                                                             {},
		"{schedule: 0 2 * * *, time_zone: UTC, duration: 1h}, {schedule: 30 3 * * *, time_zone: UTC, duration: 2h}":       {},
		"{schedule: 0 8 * 1-6 *, time_zone: UTC, duration: 24h}, {schedule: 0 0 * 7-11 *, time_zone: UTC, duration: 23h}": {},
		"{schedule: 0 0 * * *, time_zone: UTC, duration: 24h}":                                                            {"nothing is ever measured: quiet_hours cover all of the time"},
	} {
		c, err := parse("quiet_hours: [" + quiet + "]\nruns: [{suite: quick, schedule: 30 2 * * *, time_zone: UTC, window: 2h}]\n")
		require.NoError(t, err)
		assert.ElementsMatch(t, want, c.Warnings(), quiet)
	}
}

// Files from earlier builds contain all keys, with the defaults of that time.
func TestLimitsThatOnceWereDefaults(t *testing.T) {
	for text, keys := range map[string][]string{
		"": nil, "admission: {max_utilisation: auto, max_in_flight: 33, max_io_pressure: 0.7}": nil,
		"admission: {max_utilisation: 80%, max_in_flight: 32, max_io_pressure: 0.6}": {"max_utilisation is set to 0.8", "max_in_flight is set to 32", "max_io_pressure is set to 0.6"},
	} {
		c, err := parse(text)
		require.NoError(t, err)
		warnings := c.Warnings()
		require.Len(t, warnings, len(keys))
		for i, key := range keys {
			assert.Contains(t, warnings[i], "admission."+key+", its default in earlier builds")
		}
	}
}

// Two rounds within an hour are compared with the baseline; a probe whose rounds are further apart only has figures.
func TestIntervalsThatAreTooLongToCompare(t *testing.T) {
	for interval, want := range map[string][]string{
		"2m": {}, "1h": {"the figures of probe read-4k are those of single rounds: drift.window 5m is shorter than two of its intervals of 1h; verdicts do not depend on it"},
		"61m": {"probe read-4k is seldom or never compared with its baseline: its interval of 1h1m is above 1h, and that far apart rounds tell nothing together"},
	} {
		c, err := parse("probes: [{name: read-4k, interval: " + interval + "}]\n")
		require.NoError(t, err)
		assert.ElementsMatch(t, want, c.Warnings(), interval)
	}
}
