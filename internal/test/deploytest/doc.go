// Package deploytest holds the tests of what ssdprobe brings for Prometheus and
// Grafana: the rules and alerts in deploy/prometheus, the dashboards and the
// runbook.
//
// It refuses to be imported: there is nothing in it but tests. They ask real
// programs, not models of them: promtool and a Prometheus that scrapes what
// package export serves, and TypeScript with Grafana's own types.
package deploytest
