package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func quiet(t *testing.T, text string) config.QuietHours {
	t.Helper()
	c, err := parse("quiet_hours: [" + text + "]\n")
	require.NoError(t, err)
	return c.QuietHours
}

func TestQuietHours(t *testing.T) {
	const office, evening = "{schedule: 0 8 * * 1-5, time_zone: UTC, duration: 10h}", "{schedule: 0 17 * * *, time_zone: UTC, duration: 2h}"
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) } // the 23rd is a Monday
	for name, test := range map[string]struct {
		hours             string
		now, until, begin time.Time
	}{
		"before":           {office, at(23, 7, 59), time.Time{}, at(23, 8, 0)},
		"as they begin":    {office, at(23, 8, 0), at(23, 18, 0), at(24, 8, 0)},
		"within":           {office, at(23, 12, 30), at(23, 18, 0), at(24, 8, 0)},
		"as they end":      {office, at(23, 18, 0), time.Time{}, at(24, 8, 0)},
		"on a weekend":     {office, at(28, 12, 0), time.Time{}, at(30, 8, 0)},
		"within two":       {office + ", " + evening, at(23, 17, 30), at(23, 19, 0), at(24, 8, 0)},
		"within the other": {office + ", " + evening, at(28, 17, 30), at(28, 19, 0), at(29, 17, 0)},
		"none":             {"", at(23, 12, 0), time.Time{}, time.Time{}},
		"past midnight":    {"{schedule: 0 22 * * *, time_zone: UTC, duration: 8h}", at(24, 3, 0), at(24, 6, 0), at(24, 22, 0)},
		"as clocks go forward": {
			"{schedule: 30 2 * * *, time_zone: Europe/Berlin, duration: 6h}",
			time.Date(2027, 3, 28, 3, 0, 0, 0, time.UTC), time.Date(2027, 3, 28, 7, 30, 0, 0, time.UTC), time.Date(2027, 3, 29, 0, 30, 0, 0, time.UTC),
		},
		"before clocks go forward": {
			"{schedule: 30 2 * * *, time_zone: Europe/Berlin, duration: 6h}",
			time.Date(2027, 3, 28, 0, 45, 0, 0, time.UTC), time.Time{}, time.Date(2027, 3, 28, 1, 30, 0, 0, time.UTC),
		},
		"as clocks go back": {
			"{schedule: 0 8 * * *, time_zone: Europe/Berlin, duration: 1h}",
			time.Date(2026, 10, 25, 7, 30, 0, 0, time.UTC), time.Date(2026, 10, 25, 8, 0, 0, 0, time.UTC), time.Date(2026, 10, 26, 7, 0, 0, 0, time.UTC),
		},
		"in another zone": {"{schedule: 0 8 * * *, time_zone: Europe/Berlin, duration: 1h}", at(23, 7, 30), at(23, 8, 0), at(24, 7, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			q := quiet(t, test.hours)
			assert.Equal(t, test.until, q.Until(test.now).UTC())
			assert.Equal(t, test.begin, q.Begin(test.now).UTC())
		})
	}
}

func TestBadQuietHours(t *testing.T) {
	_, err := parse("quiet_hours:\n  - schedule: 8 to 18\n  - duration: 8d\n")
	require.EqualError(t, err, `line 2: quiet_hours[0].schedule: "8 to 18" is not a time; want five fields: minute, hour, day, month, weekday (0 is Sunday, 6 is Saturday); e.g. 30 3 * * 0 or @daily
line 3: quiet_hours[1].schedule: is empty; want five fields: minute, hour, day, month, weekday (0 is Sunday, 6 is Saturday); e.g. 30 3 * * 0 or @daily
line 3: quiet_hours[1].duration: "8d" is out of range; want 1m to 7d`)
}

// A day that no month of the schedule has is a mistake: nothing would ever happen.
func TestDaysThatNeverCome(t *testing.T) {
	_, err := parse("runs:\n  - {suite: quick, schedule: 0 3 31 2 *}\nquiet_hours:\n  - {schedule: '0 8 31 4,6 *'}\n")
	require.EqualError(t, err, `line 2: runs[0].schedule: "0 3 31 2 *" is a day that never comes; want one that a month of it has, e.g. 0 3 28 2 *
line 4: quiet_hours[0].schedule: "0 8 31 4,6 *" is a day that never comes; want one that a month of it has, e.g. 0 3 28 2 *`)
	for _, comes := range []string{"0 3 29 2 *", "0 3 31 2,3 *", "0 3 31 2 1"} { // the last one is also each Monday of February
		_, err := parse("runs: [{suite: quick, schedule: \"" + comes + "\"}]\n")
		assert.NoError(t, err, comes)
	}
}

func TestQuietHoursThatNeverEnd(t *testing.T) {
	for text, endless := range map[string]bool{
		"":                                      false,
		"{schedule: 0 8 * * 1-5, duration: 1d}": false, // not on Sunday
		"{schedule: 0 0 * * *, duration: 1d}":   true,
		"{schedule: 0 0 * * *, duration: 1d, time_zone: Europe/Berlin}":                                                      true, // but for the hour for which clocks are put back
		"{schedule: \"* 0-22 * * *\", duration: 5m}":                                                                         false,
		"{schedule: \"* * * * *\", duration: 1m}":                                                                            true,
		"{schedule: 0 8 * * *, duration: 12h}, {schedule: 0 20 * * *, duration: 12h}":                                        true,
		"{schedule: 0 8 * * *, duration: 12h}, {schedule: 0 20 * * *, duration: 11h}":                                        false,
		"{schedule: 0 8 * * *, duration: 12h}, {schedule: 0 20 * * 1-6, duration: 12h}":                                      false, // not on Sunday evening
		"{schedule: 0 8 * * *, duration: 12h, time_zone: Asia/Tokyo}, {schedule: 0 11 * * *, duration: 13h, time_zone: UTC}": true,
	} {
		c, err := parse("quiet_hours: [" + text + "]\n")
		require.NoError(t, err)
		if endless {
			assert.Equal(t, []string{"nothing is ever measured: quiet_hours cover all of the time"}, c.Warnings(), text)
		} else {
			assert.Empty(t, c.Warnings(), text)
		}
	}
}
