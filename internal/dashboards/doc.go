// Package dashboards makes the files that Grafana and the Prometheus Operator take up:
// dashboards/*.json, which are written down here as Go values, and
// deploy/kubernetes/monitoring and deploy/mixin, which repeat them
// for kustomize and for users of jsonnet. The chart has links to both.
//
// It knows nothing of the product but the names of its metrics. Package deploytest
// asks all queries of a real Prometheus.
package dashboards
