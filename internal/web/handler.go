package web

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Options says what a handler shows.
type Options struct {
	// Snapshot returns the current state. It must not wait for a device.
	Snapshot func() record.Snapshot
	// Explain returns the explanation of the target with this id, or false when there is none. It must not wait for a
	// device. If it is nil, nothing is explained.
	Explain func(id string) (report.Explained, bool)
	// History returns the figures of the target with this id over the last month, or false when there are none. It
	// must not wait for a device. If it is nil, there are none.
	History func(id string) (*history.History, bool)
	// Recording returns the recording with this id, or false when there is none. It must not read any file. If it is
	// nil, there are none.
	Recording func(id string) (record.Recording, bool, error)
	// Ready returns nil once the daemon is working, and before that an error that says why not. If it is nil, the
	// daemon is always ready.
	Ready func() error
	// Missing lists what is not watched although the daemon is working, one line each. It must not wait for a device.
	// If it is nil, nothing is missing.
	Missing func() []string
	// Metrics is the registry of /metrics. The handler registers its own counter of incomplete scrapes in it.
	Metrics Metrics
	Version string
	Log     *slog.Logger
}

type handler struct {
	Options
	pages *pages
}

// Handler returns the handler of all paths; see the package documentation.
func Handler(o Options) http.Handler {
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Missing == nil {
		o.Missing = func() []string { return nil }
	}
	if o.Explain == nil {
		o.Explain = func(string) (report.Explained, bool) { return report.Explained{}, false }
	}
	if o.History == nil {
		o.History = func(string) (*history.History, bool) { return nil, false }
	}
	if o.Recording == nil {
		o.Recording = func(string) (record.Recording, bool, error) { return record.Recording{}, false, nil }
	}
	h := handler{Options: o, pages: newPages()}
	root, mux := http.NewServeMux(), http.NewServeMux()
	root.HandleFunc("/-/healthy", h.serveHealthy)
	root.HandleFunc("/-/ready", h.serveReady)
	root.Handle("/metrics", h.limited(scrapesAtOnce, metrics(o.Metrics, o.Log)))
	root.Handle("/", h.limited(answersAtOnce, mux))
	mux.HandleFunc("/{$}", h.serveOverview)
	mux.HandleFunc("/devices/{id...}", h.serveDevicePage)
	mux.HandleFunc("/api/v1/status", h.answer(func(s record.Snapshot) any { return newStatus(s, o.Version) }))
	mux.HandleFunc("/api/v1/health", h.answer(func(s record.Snapshot) any { return newHealth(s) }))
	mux.HandleFunc("/api/v1/devices", h.answer(func(s record.Snapshot) any { return newDevices(s) }))
	mux.HandleFunc("/api/v1/devices/{id...}", h.serveDevice)
	mux.HandleFunc("/api/v1/drift", h.answer(func(s record.Snapshot) any { return newDrifts(s) }))
	mux.HandleFunc("/api/v1/baselines", h.answer(func(s record.Snapshot) any { return newBaselines(s) }))
	mux.HandleFunc("/api/v1/explain/{id...}", h.serveExplanation)
	mux.HandleFunc("/api/v1/history/{id...}", h.serveHistory)
	mux.HandleFunc("/api/v1/recordings", h.answer(func(s record.Snapshot) any { return newRecordings(s) }))
	mux.HandleFunc("/api/v1/recordings/{id}", h.serveRecording)
	mux.HandleFunc("/recordings/{id}", h.serveRecordingPage)
	mux.HandleFunc("/api/v1/snapshot", h.answer(func(s record.Snapshot) any { return s }))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		h.fail(w, http.StatusNotFound, "nothing is here; / is the status page, and JSON is at /api/v1/ plus status, health (the verdicts), "+
			"devices, drift, baselines, recordings, snapshot, devices/ID, explain/ID, history/ID or recordings/ID")
	})
	return h.secured(h.readOnly(root))
}

const (
	// answersAtOnce is how many status pages and API answers may be made and sent concurrently. The answer of a
	// snapshot takes 15 MB with 256 targets.
	answersAtOnce = 4
	// turnPatience is how long a request waits for its turn.
	turnPatience = 2 * time.Second
)

// limited lets n requests through at a time, and refuses those that wait for too long. This limits the memory for
// answers that clients do not read; the write timeout of the server ends those.
func (h handler) limited(n int, next http.Handler) http.Handler {
	turns := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
			next.ServeHTTP(w, r)
		case <-r.Context().Done(): // the client has gone
		case <-time.After(turnPatience):
			w.Header().Set("Retry-After", "1")
			h.fail(w, http.StatusServiceUnavailable, "other clients have not read their answers yet: ask again in a second")
		}
	})
}

// readOnly refuses methods other than GET and HEAD.
func (h handler) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			h.fail(w, http.StatusMethodNotAllowed, "only GET and HEAD: nothing can be changed or started over HTTP")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// secured sets the headers that keep a browser from doing more with an answer than showing it. Headers that the
// operator's web config file sets take precedence.
func (h handler) secured(next http.Handler) http.Handler {
	headers := map[string]string{
		"Content-Security-Policy":      h.pages.policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "deny", // for browsers that do not support frame-ancestors
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			if w.Header().Get(name) == "" {
				w.Header().Set(name, value)
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (h handler) serveHealthy(w http.ResponseWriter, _ *http.Request) {
	h.write(w, http.StatusOK, plainText, []byte("healthy\n"))
}

func (h handler) serveReady(w http.ResponseWriter, _ *http.Request) {
	if err := h.Ready(); err != nil {
		h.write(w, http.StatusServiceUnavailable, plainText, fmt.Appendf(nil, "not ready: %v\n", err))
		return
	}
	body := "ready\n"
	for _, line := range h.Missing() {
		body += line + "\n"
	}
	h.write(w, http.StatusOK, plainText, []byte(body))
}

func (h handler) serveOverview(w http.ResponseWriter, _ *http.Request) {
	h.writePage(w, "overview.html", newOverview(h.Snapshot(), h.History, h.Version))
}

func (h handler) serveDevicePage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s := h.Snapshot()
	t, ok := targetOf(s, id)
	if !ok {
		h.fail(w, http.StatusNotFound, "no target has this id; / links to all")
		return
	}
	x, _ := h.Explain(id)
	past, _ := h.History(id)
	h.writePage(w, "device.html", newDevicePage(s, t, x, past, spanNamed(r.URL.Query().Get("span")), h.Version))
}

func (h handler) writePage(w http.ResponseWriter, name string, view any) {
	body, err := h.pages.render(name, view)
	if err != nil {
		h.broken(w, err)
		return
	}
	h.write(w, http.StatusOK, "text/html; charset=utf-8", body)
}

func targetOf(s record.Snapshot, id string) (record.TargetStatus, bool) {
	i := slices.IndexFunc(s.Targets, func(t record.TargetStatus) bool { return t.ID == id })
	if i < 0 {
		return record.TargetStatus{}, false
	}
	return s.Targets[i], true
}

func (h handler) serveDevice(w http.ResponseWriter, r *http.Request) {
	s := h.Snapshot()
	t, ok := targetOf(s, r.PathValue("id"))
	if !ok {
		h.fail(w, http.StatusNotFound, "no target has this id; /api/v1/devices lists them")
		return
	}
	h.writeJSON(w, http.StatusOK, newTarget(t, finding.Of(s), whole))
}

func (h handler) serveHistory(w http.ResponseWriter, r *http.Request) {
	past, ok := h.History(r.PathValue("id"))
	if !ok {
		h.fail(w, http.StatusNotFound, "no target has this id; /api/v1/devices lists them")
		return
	}
	h.writeJSON(w, http.StatusOK, newPast(past, h.Snapshot().Time))
}

func (h handler) serveExplanation(w http.ResponseWriter, r *http.Request) {
	x, ok := h.Explain(r.PathValue("id"))
	if !ok {
		h.fail(w, http.StatusNotFound, "no target has this id; /api/v1/devices lists them")
		return
	}
	h.writeJSON(w, http.StatusOK, x)
}

// answer serves the result of shape for the current snapshot.
func (h handler) answer(shape func(record.Snapshot) any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { h.writeJSON(w, http.StatusOK, shape(h.Snapshot())) }
}

// problem is the JSON form of an error.
type problem struct {
	Status int    `json:"status"`
	Error  string `json:"error"`
}

func (h handler) fail(w http.ResponseWriter, status int, text string) {
	h.writeJSON(w, status, problem{status, text})
}

// broken tells the client only that the server is at fault, and logs why.
func (h handler) broken(w http.ResponseWriter, err error) {
	h.Log.Error("answer an HTTP request", "err", err)
	h.fail(w, http.StatusInternalServerError, "ssdprobe could not make this answer; its log says why")
}

func (h handler) writeJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	if err := report.JSON(&body, v); err != nil {
		h.broken(w, err)
		return
	}
	h.write(w, status, "application/json", body.Bytes())
}

const plainText = "text/plain; charset=utf-8"

// write sends an answer that is complete in memory, so that no error can leave half of one.
func (h handler) write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		h.Log.Debug("the client left before the answer was sent, or was cut off", "err", err)
	}
}
