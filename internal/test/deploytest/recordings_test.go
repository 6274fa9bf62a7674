package deploytest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// In Prometheus, instance is the address with its port, unless the nodes are given names. Both must
// lead to the status page.
func TestRecordingsAreLinkedByTheAddressOfTheNode(t *testing.T) {
	var panel dashboards.Panel
	for _, r := range dashboards.All()["device"].Rows {
		if i := slices.IndexFunc(r.Panels, func(p dashboards.Panel) bool { return p.Title == "Recordings" }); i >= 0 {
			panel = r.Panels[i]
		}
	}
	links, ok := panel.Defaults["links"].([]dashboards.Object)
	require.True(t, ok)
	assert.Equal(t, "http://${__field.labels.address}/", links[0]["url"])
	history := "# TYPE ssdprobe_recordings gauge\n"
	addresses := map[string]string{
		"stor-07": "stor-07:10040", "stor-07.example.org:9999": "stor-07.example.org:9999", "192.0.2.7:10040": "192.0.2.7:10040", "[2001:db8::7]:10040": "[2001:db8::7]:10040",
	}
	for instance := range addresses {
		history += `ssdprobe_recordings{instance="` + instance + `"} 3 1767225600` + "\n"
	}
	s := promtest.StartWith(t, history+"# EOF\n")
	for instance, address := range addresses {
		// Grafana does not escape a single value.
		series := s.Query(t, time.Unix(1767225600, 0), choose(panel.Queries[0].Expr, map[string]string{"instance": instance}))
		require.Len(t, series, 1, instance)
		assert.Equal(t, address, series[0].Metric["address"], instance)
	}
}
