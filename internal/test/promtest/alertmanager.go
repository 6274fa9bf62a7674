package promtest

import "testing"

// StartAlertmanager runs Alertmanager with a configuration, alone and without a cluster, and
// returns the address, "host:port", to which Prometheus has to send alerts.
func StartAlertmanager(t testing.TB, config string) (address string) {
	t.Helper()
	return run(t, Program(t, "prometheus-alertmanager", "prometheus-alertmanager"),
		"--config.file="+write(t, "alertmanager.yml", config), "--storage.path="+t.TempDir(), "--cluster.listen-address=")
}
