package web_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

const latencyName = "ssdprobe_probe_latency_seconds"

// withLatency returns a registry with one histogram, both classic and native.
func withLatency() *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: latencyName, Help: "Latency of every I/O.", Buckets: []float64{1e-4, 1e-3}, NativeHistogramBucketFactor: 1.1,
	})
	for _, seconds := range []float64{80e-6, 90e-6, 400e-6} {
		h.Observe(seconds)
	}
	registry.MustRegister(h)
	return registry
}

func TestMetricsFormats(t *testing.T) {
	o := options()
	o.Metrics = withLatency()
	server := serve(t, o)

	for name, c := range map[string]struct{ accept, contentType, holds string }{
		"text": {"", "text/plain; version=0.0.4", latencyName + `_bucket{le="0.001"} 3`},
		"OpenMetrics": {
			"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
			"application/openmetrics-text; version=1.0.0", "# EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := request(t, http.DefaultClient, http.MethodGet, server.URL+"/metrics", http.Header{"Accept": {c.accept}})
			assert.Equal(t, http.StatusOK, got.status)
			assert.True(t, strings.HasPrefix(got.header.Get("Content-Type"), c.contentType), got.header.Get("Content-Type"))
			assert.Contains(t, got.body, c.holds)
		})
	}

	t.Run("protobuf with native histograms", func(t *testing.T) {
		const accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
		got := request(t, http.DefaultClient, http.MethodGet, server.URL+"/metrics", http.Header{"Accept": {accept}})
		require.Equal(t, http.StatusOK, got.status)
		decoder := expfmt.NewDecoder(strings.NewReader(got.body), expfmt.ResponseFormat(got.header))
		families := map[string]*dto.MetricFamily{}
		for {
			var family dto.MetricFamily
			if err := decoder.Decode(&family); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err)
			}
			families[family.GetName()] = &family
		}
		require.Contains(t, families, latencyName)
		h := families[latencyName].GetMetric()[0].GetHistogram()
		assert.Equal(t, uint64(3), h.GetSampleCount())
		assert.Len(t, h.GetBucket(), 2, "classic buckets")
		assert.NotEmpty(t, h.GetPositiveSpan(), "native buckets")
		assert.Positive(t, h.GetSchema())
	})
}

func TestMetricsAreCompressedWhenAskedFor(t *testing.T) {
	o := options()
	o.Metrics.MustRegister(collectors.NewGoCollector()) // enough to be compressed
	server := serve(t, o)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, encoding := range []string{"gzip", "identity"} {
			got := request(t, http.DefaultClient, method, server.URL+"/metrics", http.Header{"Accept-Encoding": {encoding}})
			assert.Equal(t, http.StatusOK, got.status)
			if method == http.MethodGet {
				assert.Equal(t, encoding == "gzip", got.header.Get("Content-Encoding") == "gzip")
				assert.NotEmpty(t, got.body)
			}
		}
	}
}

// failing gathers no metrics, or panics.
type failing struct{ now *atomic.Bool }

func (f failing) Gather() ([]*dto.MetricFamily, error) {
	if f.now.Load() {
		panic(http.ErrAbortHandler) // which the server does not log
	}
	return []*dto.MetricFamily{}, nil
}

// A panic ends only the scrape that causes it.
func TestAScrapeThatPanics(t *testing.T) {
	var now atomic.Bool
	o := options()
	o.Metrics = struct {
		prometheus.Registerer
		failing
	}{prometheus.NewRegistry(), failing{&now}}
	server := serve(t, o)
	assert.Equal(t, http.StatusOK, get(t, server.URL+"/metrics").status)
	now.Store(true)
	response, err := http.Get(server.URL + "/metrics")
	if err == nil {
		response.Body.Close()
	}
	require.Error(t, err, "the connection is cut: half an answer could be taken for a whole one")
	now.Store(false)
	assert.Equal(t, http.StatusOK, get(t, server.URL+"/metrics").status)
}

// broken collects one good series and one invalid one.
type broken struct{}

func (broken) Describe(chan<- *prometheus.Desc) {}

func (broken) Collect(out chan<- prometheus.Metric) {
	good := prometheus.NewDesc("good", "A good one.", nil, nil)
	out <- prometheus.MustNewConstMetric(good, prometheus.GaugeValue, 1)
	out <- prometheus.NewInvalidMetric(good, errors.New("two targets have one id"))
}

func TestAnIncompleteScrapeIsCountedAndLogged(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Metrics.MustRegister(broken{})
	server := serve(t, o)

	first := get(t, server.URL+"/metrics")
	assert.Equal(t, http.StatusOK, first.status)
	assert.Contains(t, first.body, "good 1\n", "one broken series does not hide the others")
	assert.Contains(t, log.String(), "a scrape is incomplete")
	assert.Contains(t, log.String(), "two targets have one id")
	assert.Equal(t, 1, strings.Count(log.String(), "\n"))
	second := get(t, server.URL+"/metrics")
	assert.Contains(t, second.body, `promhttp_metric_handler_errors_total{cause="gathering"} 1`)
}

// slow is a collector that waits until leave is closed.
type slow struct{ entered, leave chan struct{} }

func (slow) Describe(chan<- *prometheus.Desc) {}

func (s slow) Collect(chan<- prometheus.Metric) {
	s.entered <- struct{}{}
	<-s.leave
}

func TestScrapesAtOnceAreLimited(t *testing.T) {
	t.Parallel()
	const atOnce = 4
	s := slow{make(chan struct{}), make(chan struct{})}
	o := options()
	o.Metrics.MustRegister(s)
	server := serve(t, o)

	group, failed := errgroup.WithContext(t.Context())
	for range atOnce {
		group.Go(func() error {
			response, err := http.Get(server.URL + "/metrics")
			if err != nil {
				return err
			}
			if response.StatusCode != http.StatusOK {
				err = errors.New(response.Status)
			}
			return errors.Join(err, response.Body.Close())
		})
	}
	for range atOnce {
		select {
		case <-s.entered:
		case <-failed.Done():
			close(s.leave)
			require.NoError(t, group.Wait())
		}
	}
	refused := get(t, server.URL+"/metrics")
	assert.Equal(t, http.StatusServiceUnavailable, refused.status)
	assert.Equal(t, "1", refused.header.Get("Retry-After"), "it has waited for its turn")
	assert.Equal(t, http.StatusOK, get(t, server.URL+"/").status, "the rest goes on")
	close(s.leave)
	require.NoError(t, group.Wait())
}

// Slow API answers do not affect scrapes and health checks.
func TestAnswersAtOnceAreLimited(t *testing.T) {
	t.Parallel()
	const atOnce = 4
	entered, leave := make(chan struct{}, atOnce+1), make(chan struct{})
	o := options()
	o.Snapshot = func() record.Snapshot {
		entered <- struct{}{}
		<-leave
		return recordtest.Snapshot()
	}
	server := serve(t, o)
	var group errgroup.Group
	for range atOnce {
		group.Go(func() error {
			response, err := http.Get(server.URL + "/api/v1/snapshot")
			if err != nil {
				return err
			}
			assert.Equal(t, http.StatusOK, response.StatusCode)
			return response.Body.Close()
		})
	}
	for range atOnce {
		<-entered
	}
	refused := get(t, server.URL+"/")
	assert.Equal(t, http.StatusServiceUnavailable, refused.status)
	assert.Equal(t, "1", refused.header.Get("Retry-After"))
	assert.JSONEq(t, `{"status": 503, "error": "other clients have not read their answers yet: ask again in a second"}`, refused.body)
	for _, path := range []string{"/metrics", "/-/healthy", "/-/ready"} {
		assert.Equal(t, http.StatusOK, get(t, server.URL+path).status, path)
	}
	close(leave)
	require.NoError(t, group.Wait())
	assert.Equal(t, http.StatusOK, get(t, server.URL+"/").status)
}

// left is a response writer whose client has gone.
type left struct{ http.ResponseWriter }

func (left) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAClientThatLeavesIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Metrics.MustRegister(collectors.NewGoCollector()) // dozens of families
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	r.Host = "localhost"
	web.Handler(o).ServeHTTP(left{httptest.NewRecorder()}, r)
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	assert.Contains(t, log.String(), "a client did not take the whole scrape")
	assert.Contains(t, log.String(), "broken pipe")
}
