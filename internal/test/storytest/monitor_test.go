package storytest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// monitor starts Prometheus and Alertmanager between the machine and the inbox.
func monitor(t *testing.T, m *machine, to inbox) prometheus {
	t.Helper()
	return monitorBy(t, m, to, "{scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 1s}", promtest.Prompt(t, deployed(t, "rules.yaml")), quickAlerts(t),
		"group_by: [alertname, instance, id], group_wait: 0s, group_interval: 1s, repeat_interval: 1h")
}

// monitorAsShipped is like monitor, but with the alerts unchanged, the intervals of the example
// that Prometheus ships, and Alertmanager's default times: a group_wait of half a minute, a
// group_interval of five minutes.
func monitorAsShipped(t *testing.T, m *machine, to inbox) prometheus {
	t.Helper()
	return monitorBy(t, m, to, "{scrape_interval: 15s, evaluation_interval: 15s}", deployed(t, "rules.yaml"), deployed(t, "alerts.yaml"), "group_by: [instance, id]")
}

func monitorBy(t *testing.T, m *machine, to inbox, intervals, rules, alerts, grouping string) prometheus {
	t.Helper()
	inhibited, err := os.ReadFile(deployed(t, "alertmanager/inhibit_rules.yaml"))
	require.NoError(t, err)
	alertmanager := promtest.StartAlertmanager(t, string(inhibited)+fmt.Sprintf(`
route: {receiver: inbox, %s}
receivers: [{name: inbox, webhook_configs: [{url: %q, send_resolved: true}]}]
`, grouping, to.URL))
	return prometheus{promtest.Start(t, fmt.Sprintf(`
global: %s
rule_files: [%q, %q]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs: [{job_name: ssdprobe, static_configs: [{targets: [%q], labels: {instance: %q}}]}]
`, intervals, rules, alerts, alertmanager, m.Addr(metricsPort), node))}
}

// deployed returns the absolute path of a file in deploy/prometheus.
func deployed(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "deploy", "prometheus", name))
	require.NoError(t, err)
	return path
}

var patience = regexp.MustCompile(`(?m)^( +(?:interval|for|keep_firing_for): )(\w+)$`)

// quickAlerts writes a copy of the alerts in which the waiting times of alerts about drives are a
// second for each minute. Alerts about the cost of ssdprobe itself are unchanged, because
// processors are emulated here.
func quickAlerts(t *testing.T) (path string) {
	t.Helper()
	alerts, err := os.ReadFile(deployed(t, "alerts.yaml"))
	require.NoError(t, err)
	drives, self, ok := bytes.Cut(alerts, []byte("  - name: ssdprobe-self\n"))
	require.True(t, ok)
	count := 0
	quick := patience.ReplaceAllFunc(drives, func(line []byte) []byte {
		count++
		part := patience.FindSubmatch(line)
		long, err := model.ParseDuration(string(part[2]))
		require.NoError(t, err)
		return fmt.Appendf(nil, "%s%s", part[1], model.Duration(time.Duration(long)/60))
	})
	assert.Greater(t, count, 10, "they are all found")
	path = filepath.Join(t.TempDir(), "alerts.yaml")
	require.NoError(t, os.WriteFile(path, slices.Concat(quick, []byte("  - name: ssdprobe-self\n"), self), 0o600))
	return path
}
