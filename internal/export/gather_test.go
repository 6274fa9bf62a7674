package export_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// observed returns the latencies of the last round of every probe in s.
func observed(s record.Snapshot) *export.Latencies {
	l := export.NewLatencies()
	for _, target := range s.Targets {
		for _, p := range target.Probes {
			l.Observe(target.Device.Name, *p.Last)
		}
	}
	return l
}

func collector(s record.Snapshot, l *export.Latencies) *export.Collector {
	build := export.Build{Version: "1.2.3", Revision: "0a1b2c3", GoVersion: "go1.26.0", Engine: "ssdprobe-2"}
	return export.New(func() record.Snapshot { return s }, l, build)
}

// registry returns a registry that checks the collected series against their descriptions.
func registry(t testing.TB, s record.Snapshot, l *export.Latencies) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	require.NoError(t, r.Register(collector(s, l)))
	return r
}

func gather(t testing.TB, s record.Snapshot, l *export.Latencies) []*dto.MetricFamily {
	t.Helper()
	families, err := registry(t, s, l).Gather()
	require.NoError(t, err)
	return families
}

// exposition returns the text format of families, by name and all together.
func exposition(t testing.TB, families []*dto.MetricFamily) (map[string]string, string) {
	t.Helper()
	byName := map[string]string{}
	var all bytes.Buffer
	for _, f := range families {
		start := all.Len()
		_, err := expfmt.MetricFamilyToText(&all, f)
		require.NoError(t, err)
		byName[f.GetName()] = string(all.Bytes()[start:])
	}
	return byName, all.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	assert.Equal(t, string(want), got, "run the test with -update if this is meant")
}
