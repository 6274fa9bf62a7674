// Package deploytest tests what ssdprobe ships for Prometheus and Grafana: the rules
// and alerts in deploy/prometheus, the dashboards and the runbook.
//
// It holds only tests. They use real programs, not models of them: promtool, a Prometheus
// that scrapes what package export serves, and TypeScript with Grafana's own types.
package deploytest
