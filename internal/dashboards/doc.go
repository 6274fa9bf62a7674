// Package dashboards makes the dashboard files: dashboards/*.json, which are defined here as Go values, and copies of
// them in deploy/kubernetes/monitoring for kustomize and in deploy/mixin for users of jsonnet. The chart links to
// dashboards.
//
// All it knows about the product is the names of its metrics. Package deploytest runs all queries against a real
// Prometheus.
package dashboards
