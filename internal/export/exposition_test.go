package export_test

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestExposition(t *testing.T) {
	s := recordtest.Snapshot()
	_, text := exposition(t, gather(t, s, observed(s)))
	golden(t, filepath.Join("testdata", "snapshot.prom"), text)
}

func TestTheHelpOfRoundsNamesEveryOutcome(t *testing.T) {
	s := recordtest.Snapshot()
	help := ""
	for _, family := range gather(t, s, observed(s)) {
		if family.GetName() == "ssdprobe_probe_rounds_total" {
			help = family.GetHelp()
		}
	}
	for _, outcome := range record.Outcomes() {
		assert.Contains(t, help, outcome, "docs/metrics.md is made from it")
	}
}

func TestPromlintHasNothingToSay(t *testing.T) {
	s := recordtest.Snapshot()
	problems, err := testutil.GatherAndLint(registry(t, s, observed(s)))
	require.NoError(t, err)
	assert.Empty(t, problems)
}

// scrape returns the answer over HTTP to a client that accepts this format.
func scrape(t *testing.T, accept string) (http.Header, []byte) {
	t.Helper()
	s := recordtest.Snapshot()
	handler := promhttp.HandlerFor(registry(t, s, observed(s)), promhttp.HandlerOpts{
		EnableOpenMetrics: true, EnableOpenMetricsTextCreatedSamples: true,
	})
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Accept", accept)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	require.Equal(t, http.StatusOK, response.Code, response.Body)
	return response.Header(), response.Body.Bytes()
}

// measured is how many of the probes' last rounds measured the device: all except the disturbed one.
const measured = 6

func TestLatencyIsNativeInProtobuf(t *testing.T) {
	header, body := scrape(t, "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	format := expfmt.ResponseFormat(header)
	require.Equal(t, expfmt.TypeProtoDelim, format.FormatType())
	decoder := expfmt.NewDecoder(bytes.NewReader(body), format)
	var latency dto.MetricFamily
	for latency.GetName() != "ssdprobe_probe_latency_seconds" {
		latency.Reset()
		require.NoError(t, decoder.Decode(&latency))
	}
	require.Len(t, latency.GetMetric(), measured)
	h := latency.GetMetric()[0].GetHistogram()
	assert.EqualValues(t, 3, h.GetSchema(), "eight buckets per power of two")
	assert.EqualValues(t, 32, h.GetSampleCount())
	assert.NotNil(t, h.GetCreatedTimestamp())
	var native, current int64
	for _, delta := range h.GetPositiveDelta() {
		current += delta
		native += current
	}
	assert.EqualValues(t, 32, native+int64(h.GetZeroCount()), "all I/Os are in native buckets")
	assert.Len(t, h.GetBucket(), 3, "the classic buckets go along")
}

func TestLatencyIsClassicInText(t *testing.T) {
	_, body := scrape(t, "text/plain")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	require.NoError(t, err)
	latency := families["ssdprobe_probe_latency_seconds"]
	require.Len(t, latency.GetMetric(), measured)
	for _, m := range latency.GetMetric() {
		var bounds []float64
		var below uint64
		for _, b := range m.GetHistogram().GetBucket() {
			bounds = append(bounds, b.GetUpperBound())
			assert.GreaterOrEqual(t, b.GetCumulativeCount(), below)
			below = b.GetCumulativeCount()
		}
		assert.Equal(t, []float64{250e-6, 1e-3, 10e-3, math.Inf(1)}, bounds)
		assert.Equal(t, m.GetHistogram().GetSampleCount(), below)
		assert.Empty(t, m.GetHistogram().GetPositiveSpan())
	}
}

func TestOpenMetricsCarriesUnitsAndCreationTimes(t *testing.T) {
	header, body := scrape(t, "application/openmetrics-text;version=1.0.0")
	require.Contains(t, header.Get("Content-Type"), "application/openmetrics-text; version=1.0.0")
	text := string(body)
	for _, line := range []string{
		"# TYPE ssdprobe_probe_read_bytes counter",
		"# UNIT ssdprobe_probe_read_bytes bytes",
		"# UNIT ssdprobe_probe_latency_seconds seconds",
		"# UNIT ssdprobe_device_written_ratio ratio",
		"# TYPE ssdprobe_probe_iops gauge",
	} {
		assert.Contains(t, text, line+"\n")
	}
	assert.NotContains(t, text, "# UNIT ssdprobe_probe_iops")
	assert.Contains(t, text, "\nssdprobe_probe_latency_seconds_created{")
	assert.True(t, strings.HasSuffix(text, "# EOF\n"))
}
