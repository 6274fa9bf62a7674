package replay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/replay"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

type promSeries struct {
	Metric map[string]string `json:"metric"`
	Values [][2]any          `json:"values"`
}

// server answers range queries like Prometheus. at returns the series of a query at a
// time.
func server(t *testing.T, at func(query string, unix int64) []promSeries) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := func(name string) int64 {
			v, err := strconv.ParseInt(r.FormValue(name), 10, 64)
			assert.NoError(t, err)
			return v
		}
		assert.Equal(t, "/prom/api/v1/query_range", r.URL.Path)
		start, end, step := number("start"), number("end"), number("step")
		if (end-start)/step > 11_000 {
			w.WriteHeader(http.StatusBadRequest)
			_, err := io.WriteString(w, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points per timeseries"}`)
			assert.NoError(t, err)
			return
		}
		found := map[string]*promSeries{}
		var order []*promSeries
		for unix := start; unix <= end; unix += step {
			for _, one := range at(r.FormValue("query"), unix) {
				key := fmt.Sprint(one.Metric)
				if found[key] == nil {
					found[key] = &promSeries{Metric: one.Metric}
					order = append(order, found[key])
				}
				found[key].Values = append(found[key].Values, one.Values...)
			}
		}
		answer := map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": order}}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

func value(unix int64, v float64, labels ...string) promSeries {
	s := promSeries{Metric: map[string]string{}, Values: [][2]any{{unix, strconv.FormatFloat(v, 'g', -1, 64)}}}
	for i := 0; i < len(labels); i += 2 {
		s.Metric[labels[i]] = labels[i+1]
	}
	return s
}

func TestPrometheusGivesTheSameAsTheFile(t *testing.T) {
	testenv.Long(t)
	stream := drifttest.Stream{Kind: "step20", Noise: "diurnal", Seed: 2, Days: 9}
	recorded := map[int64]drifttest.Round{}
	want := history(stream)
	for r := range stream.Rounds() {
		recorded[r.Time.Unix()] = r
	}
	s := server(t, func(query string, unix int64) []promSeries {
		r, ok := recorded[unix]
		switch {
		case !ok:
			return nil
		case query == "load":
			return []promSeries{value(unix, round(r.Utilisation, "%.3f"))}
		case strings.HasPrefix(query, "ssdprobe_traffic_"):
			return nil
		case strings.HasPrefix(query, "ssdprobe_device_info{"):
			return []promSeries{value(unix, 1, "device", "nvme0n1", "firmware", r.Conditions.Firmware, "model", "X")}
		case strings.HasPrefix(query, "ssdprobe_device_conditions_info{") && unix/60%1000 == 999: // a scrape without it
			return nil
		case strings.HasPrefix(query, "ssdprobe_device_conditions_info{"):
			return []promSeries{value(unix, 1, "device", "nvme0n1", "kernel", "6.12")}
		}
		for i, what := range []string{`percentile="50"`, `percentile="95"`, `percentile="99"`, "ssdprobe_probe_iops"} {
			if strings.Contains(query, what) && strings.Contains(query, `device="nvme0n1",probe="read-4k"`) {
				return []promSeries{value(unix, round(r.Values[i], []string{"%.3e", "%.3e", "%.3e", "%.1f"}[i]), "device", "nvme0n1", "instance", "a")}
			}
		}
		assert.Fail(t, "unexpected query", query)
		return nil
	})
	p, err := replay.NewPrometheus(s.Client(), replay.Query{
		URL: s.URL + "/prom/", Device: "nvme0n1", Probe: "read-4k", From: drifttest.Start(), To: drifttest.Start().Add(9 * 24 * time.Hour),
		Utilisation: "load",
	})
	require.NoError(t, err)
	got, err := replay.Run(t.Context(), "d", p, drift.Default(), nil)
	require.NoError(t, err)
	expected := run(t, want, nil)
	assert.Equal(t, expected.Rounds, got.Rounds)
	assert.Equal(t, expected.Lines, got.Lines)
	assert.Equal(t, record.Conditions{Model: "X", Firmware: "A", Kernel: "6.12"}, got.Drives[0].Now.Conditions)
}

// round rounds v to the digits in the file.
func round(v float64, format string) float64 {
	rounded, err := strconv.ParseFloat(fmt.Sprintf(format, v), 64)
	if err != nil {
		panic(err)
	}
	return rounded
}

func query(url string) replay.Query {
	return replay.Query{URL: url, Device: "nvme0n1", Probe: "read-4k", From: time.Unix(0, 0), To: time.Unix(3600, 0)}
}

func TestPrometheusRefusesTwoDevicesOfOneName(t *testing.T) {
	s := server(t, func(_ string, unix int64) []promSeries {
		return []promSeries{
			value(unix, 1e-4, "device", "nvme0n1", "instance", "a"), value(unix, 1e-4, "device", "nvme0n1", "instance", "b"),
		}
	})
	p, err := replay.NewPrometheus(nil, query(s.URL+"/prom"))
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, replay.ErrAmbiguous)
	assert.ErrorContains(t, err, "name the instance")
}

// An expression of the user's own has other labels than the metrics of ssdprobe.
func TestPrometheusRefusesTheUtilisationOfTwoDevices(t *testing.T) {
	s := server(t, func(query string, unix int64) []promSeries {
		switch {
		case query == "load":
			return []promSeries{value(unix, 0.1, "node", "a"), value(unix, 0.9, "node", "b")}
		case strings.HasPrefix(query, "ssdprobe_probe_"):
			return []promSeries{value(unix, 1e-4, "device", "nvme0n1", "instance", "a")}
		}
		return nil
	})
	q := query(s.URL + "/prom")
	q.Utilisation = "load"
	p, err := replay.NewPrometheus(nil, q)
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, replay.ErrAmbiguous)
	assert.ErrorContains(t, err, `utilisation: more than one device is meant by "nvme0n1": {node="a"} and {node="b"}`)
}

func TestPrometheusTroubleIsTold(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"an error":     {`{"status":"error","error":"parse error: unexpected end"}`, "parse error: unexpected end"},
		"another page": {"<html>sign in</html>", "bad_response"},
		"a vector":     {`{"status":"success","data":{"resultType":"vector","result":[]}}`, "a vector instead of a matrix"},
		"a bad sample": {`{"status":"success","data":{"resultType":"matrix","result":[{"values":[[0,"x"]]}]}}`, `parsing "x": invalid syntax`},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, err := io.WriteString(w, tt.answer)
				assert.NoError(t, err)
			}))
			defer s.Close()
			p, err := replay.NewPrometheus(s.Client(), query(s.URL))
			require.NoError(t, err)
			_, err = p.Next(t.Context())
			assert.ErrorContains(t, err, tt.want)
		})
	}
	for name, change := range map[string]func(*replay.Query){
		"no URL": func(q *replay.Query) { q.URL = "" }, "no device": func(q *replay.Query) { q.Device = "" },
		"no probe": func(q *replay.Query) { q.Probe = "" }, "ends before": func(q *replay.Query) { q.To = q.From },
	} {
		q := query("http://localhost")
		change(&q)
		_, err := replay.NewPrometheus(nil, q)
		assert.ErrorContains(t, err, name)
	}
}

func TestPrometheusWithoutHistoryIsEmpty(t *testing.T) {
	s := server(t, func(string, int64) []promSeries { return nil })
	p, err := replay.NewPrometheus(s.Client(), query(s.URL+"/prom"))
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
}
