package deploytest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// In Prometheus, instance is the address with its port, which leads to the status page, unless the
// nodes are given names. On Kubernetes, nothing listens on a port of the node.
func TestRecordingsAreLinkedWhereTheAddressIsKnown(t *testing.T) {
	panel := panelOf(t, "device", "Verdict", "Recordings")
	assert.NotContains(t, panel.Defaults, "links")
	require.Len(t, panel.Overrides, 1)
	assert.Equal(t, dashboards.Object{"id": "byFrameRefID", "options": "A"}, panel.Overrides[0]["matcher"])
	assert.Contains(t, fmt.Sprint(panel.Overrides[0]["properties"]), "http://${__field.labels.instance}/")
	history := "# TYPE ssdprobe_recordings gauge\n"
	linked := map[string]bool{"stor-07": false, "stor-07.example.org": false, "stor-07.example.org:9999": true, "192.0.2.7:10040": true, "[2001:db8::7]:10040": true}
	for instance := range linked {
		history += `ssdprobe_recordings{instance="` + instance + `"} 3 1767225600` + "\n"
	}
	s := promtest.StartWith(t, history+"# EOF\n")
	for instance, link := range linked {
		for i, shown := range []bool{link, !link} { // the queries A, with the link, and B
			// Grafana does not escape a single value.
			series := s.Query(t, time.Unix(1767225600, 0), choose(panel.Queries[i].Expr, map[string]string{"instance": instance}))
			if assert.Equal(t, shown, len(series) == 1, instance) && shown {
				assert.Equal(t, instance, series[0].Metric["instance"])
			}
		}
	}
}
