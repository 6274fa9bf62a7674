package promtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Alert is an alert in a notification of Alertmanager.
type Alert struct {
	Status              string // firing or resolved
	Labels, Annotations map[string]string
}

// Inbox is a webhook that keeps the alerts that Alertmanager sends.
type Inbox struct {
	URL string

	mu       sync.Mutex
	received []Alert
}

// NewInbox returns an Inbox that serves until the test ends.
func NewInbox(t testing.TB) *Inbox {
	t.Helper()
	i := &Inbox{}
	t.Cleanup(func() {
		if t.Failed() {
			for _, a := range i.All() {
				t.Logf("it had been told: %s %v", a.Status, a.Labels)
			}
		}
	})
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// ServeHTTP receives a notification of one or more alerts.
func (i *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var notification struct{ Alerts []Alert }
	if err := json.NewDecoder(r.Body).Decode(&notification); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.received = append(i.received, notification.Alerts...)
}

// All returns the alerts received so far, oldest first.
func (i *Inbox) All() []Alert {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.received)
}
