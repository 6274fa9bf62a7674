package storytest_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// inbox is where the alerts of the story arrive.
type inbox struct{ *promtest.Inbox }

// All returns the alerts received so far, oldest first, without the one about the cost of ssdprobe: that is far higher where
// processors are emulated and the clock flies, and after half an hour Prometheus says so.
func (i inbox) All() []promtest.Alert {
	return slices.DeleteFunc(i.Inbox.All(), func(a promtest.Alert) bool { return a.Labels["alertname"] == "SsdprobeCPUBudgetExceeded" })
}

// open reports whether an alert has fired and is not resolved.
func (i inbox) open() bool {
	firing := map[string]bool{}
	for _, a := range i.All() {
		firing[fmt.Sprint(a.Labels)] = a.Status == "firing"
	}
	return slices.Contains(slices.Collect(maps.Values(firing)), true)
}

// degraded and severe are the alerts of the story. A drive at a third of its speed is severe at
// once, or is degraded first.
const degraded, severe = "SsdprobeDriveDegraded", "SsdprobeDriveSevere"

// slower returns the first alert about a slow drive.
func (i inbox) slower() (a promtest.Alert, found bool) {
	all := i.All()
	at := slices.IndexFunc(all, func(a promtest.Alert) bool {
		return a.Labels["alertname"] == degraded || a.Labels["alertname"] == severe
	})
	if at < 0 {
		return promtest.Alert{}, false
	}
	return all[at], true
}

// has reports whether an alert of this name has arrived.
func (i inbox) has(name string) bool {
	return slices.ContainsFunc(i.All(), func(a promtest.Alert) bool { return a.Labels["alertname"] == name })
}

// onlyAbout fails the test if an alert of another kind or about another drive has arrived.
func (i inbox) onlyAbout(t *testing.T, d drive) {
	t.Helper()
	for _, a := range i.All() {
		assert.Contains(t, []string{degraded, severe}, a.Labels["alertname"], "%v", a)
		assert.Equal(t, d.id, a.Labels["id"], "%v", a)
	}
}

var sinceWhen = regexp.MustCompile(`since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.\d]* \+0000 UTC`)

// isAbout checks that the alert says which drive is slow, where, and since when. That time is not
// before the drive was made slow (except for the round under way), and is before the alert arrived.
func isAbout(t *testing.T, a promtest.Alert, d drive, after, before time.Time) {
	t.Helper()
	description := a.Annotations["description"]
	for label, want := range map[string]string{
		"severity": "warning", "scope": "drive",
		"device": d.name, "id": d.id, "instance": node, "model": "QEMU NVMe Ctrl",
	} {
		assert.Equal(t, want, a.Labels[label], label)
		switch label {
		case "device", "id", "instance", "model":
			assert.Contains(t, description, want)
		}
	}
	assert.Contains(t, description, "No condition is known to have changed at that time.")
	assert.Regexp(t, `is (degraded|severe), \d+\.\d\d times slower`, description)
	found := sinceWhen.FindStringSubmatch(description)
	require.NotNil(t, found, description)
	onset, err := time.Parse(time.DateTime, found[1])
	require.NoError(t, err)
	assert.False(t, onset.Before(after.Add(-2*time.Minute)), "slow since %v, and not since %v", after, onset)
	assert.True(t, onset.Before(before), "told at %v, of %v", before, onset)
}
