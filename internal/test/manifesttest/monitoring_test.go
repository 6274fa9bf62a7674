package manifesttest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "make deploy/kubernetes/monitoring anew")

const (
	madeBy = "# Made by `go test ./internal/test/manifesttest -update` from %s.\n"

	monitoring = `# What the Prometheus Operator and Grafana's sidecar take up.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
  - podmonitor.yaml
  - prometheusrule.yaml
`
	dashboards = `generatorOptions:
  disableNameSuffixHash: true # nothing refers to them
  labels:
    app.kubernetes.io/name: ssdprobe
    app.kubernetes.io/instance: ssdprobe
    grafana_dashboard: "1"
configMapGenerator:
`
)

// Kustomize reads no file outside of its own folder, and a rule file is no
// Kubernetes object, so both are kept a second time; this keeps them the same.
func TestMonitoringIsUpToDate(t *testing.T) {
	want := map[string]string{
		"prometheusrule.yaml": prometheusRule(t),
		"kustomization.yaml":  fmt.Sprintf(madeBy, "dashboards") + monitoring,
	}
	sources, err := filepath.Glob(at("dashboards", "*.json"))
	require.NoError(t, err)
	for i, source := range sources {
		if i == 0 {
			want["kustomization.yaml"] += dashboards
		}
		name := filepath.Base(source)
		want[filepath.Join("dashboards", name)] = read(t, source)
		want["kustomization.yaml"] += fmt.Sprintf("  - name: ssdprobe-dashboard-%s\n    files:\n      - dashboards/%s\n",
			strings.TrimSuffix(name, ".json"), name)
	}
	dir := at("deploy", "kubernetes", "monitoring")
	if *update {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "dashboards")))
		for name, text := range want {
			write(t, filepath.Join(dir, name), text, 0o644)
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, "run this test with -update")
		assert.Equal(t, text, string(got), "%s: run this test with -update", name)
	}
	copies, err := filepath.Glob(filepath.Join(dir, "dashboards", "*"))
	require.NoError(t, err)
	assert.Len(t, copies, len(sources), "a dashboard that is no more: run this test with -update")
}

// prometheusRule makes the operator's object of the rule files.
func prometheusRule(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(at("deploy", "prometheus", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	groups := []any{}
	for _, file := range files {
		var rules struct {
			Groups []any `json:"groups"`
		}
		require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, file)), &rules), file)
		require.NotEmpty(t, rules.Groups, file)
		groups = append(groups, rules.Groups...)
	}
	labels := map[string]string{"app.kubernetes.io/name": "ssdprobe", "app.kubernetes.io/instance": "ssdprobe"}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "monitoring.coreos.com/v1",
		"kind":       "PrometheusRule",
		"metadata":   map[string]any{"name": "ssdprobe", "labels": labels},
		"spec":       map[string]any{"groups": groups},
	})
	require.NoError(t, err)
	return fmt.Sprintf(madeBy, "deploy/prometheus") + string(text)
}
