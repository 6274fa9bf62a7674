package web_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestAPIShapes(t *testing.T) {
	server := serve(t, options())
	for _, name := range []string{"status", "health", "devices", "drift", "baselines"} {
		t.Run(name, func(t *testing.T) { golden(t, name+".json", get(t, server.URL+"/api/v1/"+name).body) })
	}
}

// Lists without elements are empty, so that clients need not handle null.
func TestAPIOfNothing(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		return record.Snapshot{Time: recordtest.Now(), Started: recordtest.Now(), Node: "stor-07"}
	}
	server := serve(t, o)
	const head = `"time": "2026-05-04T13:02:11.25Z", "node": "stor-07"`
	for path, want := range map[string]string{
		"status": `{` + head + `, "version": "1.2.3", "started": "2026-05-04T13:02:11.25Z", "ready": true,
			"summary": "nothing is watched", "findings": [], "targets": 0, "probes": 0, "ignored": 0, "collectors": []}`,
		"health":    `{` + head + `, "drives": []}`,
		"devices":   `{` + head + `, "targets": [], "ignored": []}`,
		"drift":     `{` + head + `, "drift": [], "effects": []}`,
		"baselines": `{` + head + `, "baselines": []}`,
	} {
		t.Run(path, func(t *testing.T) { assert.JSONEq(t, want, get(t, server.URL+"/api/v1/"+path).body) })
	}
}

func TestSnapshot(t *testing.T) {
	got := get(t, serve(t, options()).URL+"/api/v1/snapshot")
	assert.Equal(t, recordtest.Snapshot(), decode[record.Snapshot](t, got))
}

func TestOneDevice(t *testing.T) {
	server := serve(t, options())
	for _, want := range recordtest.Snapshot().Targets {
		for _, id := range []string{want.ID, url.PathEscape(want.ID)} {
			t.Run(id, func(t *testing.T) {
				got := get(t, server.URL+"/api/v1/devices/"+id)
				require.Equal(t, http.StatusOK, got.status)
				assert.Equal(t, want, decode[record.TargetStatus](t, got), "it is a whole record.TargetStatus")
			})
		}
	}
}

// The values of a window have the same names and units as those of a baseline.
func TestWindowValues(t *testing.T) {
	type percentile struct {
		Percentile float64       `json:"percentile"`
		Span       time.Duration `json:"span_ns"`
		IOs        int64         `json:"ios"`
	}
	type window struct {
		IOs         int64                        `json:"ios"`
		Percentiles []percentile                 `json:"percentiles"`
		Values      map[record.Statistic]float64 `json:"values"`
		Unsure      []record.Statistic           `json:"unsure"`
	}
	type target struct {
		Probes []struct {
			Window window `json:"window"`
		} `json:"probes"`
	}
	devices := serve(t, options()).URL + "/api/v1/devices/"
	got := decode[target](t, get(t, devices+recordtest.RegressedID))
	require.Len(t, got.Probes, 2)
	random, sequential := got.Probes[0].Window, got.Probes[1].Window

	assert.Equal(t, int64(2560), random.IOs)
	assert.Empty(t, random.Unsure)
	assert.InDelta(t, 136e-6, random.Values[record.LatencyP50], 1e-6)
	assert.InDelta(t, 410e-6, random.Values[record.LatencyP99], 5e-6)
	assert.Positive(t, random.Values[record.IOPS])

	assert.Equal(t, int64(160), sequential.IOs)
	assert.Empty(t, sequential.Unsure)
	assert.Equal(t, []percentile{
		{50, 5 * time.Minute, 160}, {95, 7 * time.Minute, 224}, {99, 32 * time.Minute, 1024}, {99.9, 313 * time.Minute, 10016},
	}, sequential.Percentiles)

	young := decode[target](t, get(t, devices+recordtest.FileID)).Probes[1].Window
	assert.Equal(t, []record.Statistic{record.LatencyP99}, young.Unsure)
	assert.Equal(t, percentile{99, 6 * time.Hour, 704}, young.Percentiles[2])
}
