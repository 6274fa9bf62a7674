package storytest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alert is one as Alertmanager tells of it.
type alert struct {
	Status              string
	Labels, Annotations map[string]string
}

// inbox is a webhook that keeps what it is told.
type inbox struct {
	url string

	mu       sync.Mutex
	received []alert
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	i := &inbox{}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// ServeHTTP takes a notification, of one or more alerts.
func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var notification struct{ Alerts []alert }
	if err := json.NewDecoder(r.Body).Decode(&notification); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.received = append(i.received, notification.Alerts...)
}

func (i *inbox) all() []alert {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.received)
}

// open reports whether an alert was told of and not of its end. A drive has one for each statistic.
func (i *inbox) open() bool {
	firing := map[string]bool{}
	for _, a := range i.all() {
		firing[fmt.Sprint(a.Labels)] = a.Status == "firing"
	}
	return slices.Contains(slices.Collect(maps.Values(firing)), true)
}

// slower is the first alert about a drive that is slower than its baseline.
func (i *inbox) slower() (a alert, found bool) {
	all := i.all()
	at := slices.IndexFunc(all, func(a alert) bool { return a.Labels["alertname"] == slowerThanBaseline })
	if at < 0 {
		return alert{}, false
	}
	return all[at], true
}

// slowerThanBaseline is the alert of the story; a drive that is slow enough has severe too.
const slowerThanBaseline, severe = "SsdprobeDriveSlowerThanBaseline", "SsdprobeDriveSevere"

// onlyAbout finds alerts of another kind or of another drive among all that came so far.
func (i *inbox) onlyAbout(t *testing.T, d drive) {
	t.Helper()
	for _, a := range i.all() {
		assert.Contains(t, []string{slowerThanBaseline, severe}, a.Labels["alertname"], "%v", a)
		assert.Equal(t, d.id, a.Labels["id"], "%v", a)
	}
}

var sinceWhen = regexp.MustCompile(`since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.\d]* \+0000 UTC`)

// isAbout checks that the alert says which drive is slow, where, and from when on: not before it was made slow, but
// for the round under way, and before the alert came.
func (a alert) isAbout(t *testing.T, d drive, after, before time.Time) {
	t.Helper()
	for label, want := range map[string]string{
		"alertname": slowerThanBaseline, "severity": "warning",
		"device": d.name, "id": d.id, "instance": node, "model": "QEMU NVMe Ctrl", "probe": "read-4k",
	} {
		assert.Equal(t, want, a.Labels[label], label)
		switch label {
		case "device", "id", "instance", "model":
			assert.Contains(t, a.Annotations["summary"], want)
		}
	}
	description := a.Annotations["description"]
	assert.Contains(t, description, "No change of conditions found")
	found := sinceWhen.FindStringSubmatch(description)
	require.NotNil(t, found, description)
	onset, err := time.Parse(time.DateTime, found[1])
	require.NoError(t, err)
	assert.False(t, onset.Before(after.Add(-2*time.Minute)), "slow since %v, and not since %v", after, onset)
	assert.True(t, onset.Before(before), "told at %v, of %v", before, onset)
}
