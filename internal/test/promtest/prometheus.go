package promtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Server is a running Prometheus.
type Server struct{ URL string }

// Start runs Prometheus with a configuration, which must name other files by absolute paths.
// Prometheus may take a moment to answer the first query.
func Start(t testing.TB, config string, arguments ...string) Server {
	t.Helper()
	return start(t, config, t.TempDir(), arguments...)
}

// StartWith runs a Prometheus with a recorded history, which is OpenMetrics text with timestamps.
func StartWith(t testing.TB, history string) Server {
	t.Helper()
	data := t.TempDir()
	made, err := exec.CommandContext(t.Context(), Program(t, "promtool", "prometheus"),
		"tsdb", "create-blocks-from", "openmetrics", write(t, "history.txt", history), data).CombinedOutput()
	require.NoError(t, err, string(made))
	s := start(t, "", data, "--storage.tsdb.retention.time=100y")
	require.Eventually(t, func() bool {
		_, err := s.TryQuery(t, time.Now(), "vector(1)")
		return err == nil
	}, time.Minute, 50*time.Millisecond)
	return s
}

func start(t testing.TB, config, data string, arguments ...string) Server {
	t.Helper()
	return Server{URL: "http://" + run(t, Program(t, "prometheus", "prometheus"), append([]string{
		"--config.file=" + write(t, "prometheus.yml", config), "--storage.tsdb.path=" + data,
	}, arguments...)...)}
}

// Ask queries the HTTP API and decodes the data of the answer into into.
func (s Server) Ask(t testing.TB, path string, query url.Values, into any) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", response.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// Query evaluates an expression at one time.
func (s Server) Query(t testing.TB, at time.Time, expr string) []Series {
	t.Helper()
	series, err := s.TryQuery(t, at, expr)
	require.NoError(t, err, expr)
	return series
}

// TryQuery is like Query, for a server that may not answer yet.
func (s Server) TryQuery(t testing.TB, at time.Time, expr string) ([]Series, error) {
	t.Helper()
	var data struct{ Result []Series }
	err := s.Ask(t, "/api/v1/query", url.Values{"query": {expr}, "time": {stamp(at)}}, &data)
	return data.Result, err
}

// QueryRange evaluates an expression for each second between two times.
func (s Server) QueryRange(t testing.TB, from, to time.Time, expr string) []Series {
	t.Helper()
	var data struct{ Result []Series }
	require.NoError(t, s.Ask(t, "/api/v1/query_range", url.Values{
		"query": {expr}, "step": {"1"}, "start": {stamp(from)}, "end": {stamp(to)},
	}, &data), expr)
	return data.Result
}

func stamp(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
