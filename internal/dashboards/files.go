package dashboards

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/yaml"
)

// Folders are those in which every file is made here.
func Folders() []string { return []string{"dashboards", monitoringDir + "/dashboards"} }

const (
	monitoringDir = "deploy/kubernetes/monitoring"
	rulesDir      = "deploy/prometheus"

	madeBy = "# Made by `make generate` from %s.\n"

	kustomization = `# What the Prometheus Operator and Grafana's sidecar take up.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
  - podmonitor.yaml
  - prometheusrule.yaml
generatorOptions:
  disableNameSuffixHash: true # nothing refers to them
  labels:
    app.kubernetes.io/name: ssdprobe
    app.kubernetes.io/instance: ssdprobe
    grafana_dashboard: "1"
configMapGenerator:
`
)

// Files returns all files that are made here, by their paths in the repository, which
// root is. Kustomize reads no file outside of its own folder, and a rule file is no
// Kubernetes object: so the dashboards and the rules are there a second time.
func Files(root fs.FS) (map[string]string, error) {
	rule, err := prometheusRule(root)
	if err != nil {
		return nil, err
	}
	list := fmt.Sprintf(madeBy, "dashboards") + kustomization
	files := map[string]string{monitoringDir + "/prometheusrule.yaml": rule}
	all := All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := all[name].text()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", name, err)
		}
		for _, folder := range Folders() {
			files[path.Join(folder, name+".json")] = text
		}
		list += fmt.Sprintf("  - name: ssdprobe-dashboard-%s\n    files:\n      - dashboards/%[1]s.json\n", name)
	}
	files[monitoringDir+"/kustomization.yaml"] = list
	return files, nil
}

// prometheusRule makes the operator's object of the rule files.
func prometheusRule(root fs.FS) (string, error) {
	sources, err := fs.Glob(root, rulesDir+"/*.yaml")
	if err != nil {
		return "", err
	}
	if len(sources) == 0 {
		return "", fmt.Errorf("no rules in %s: run this in the repository", rulesDir)
	}
	groups := []any{}
	for _, source := range sources {
		text, err := fs.ReadFile(root, source)
		if err != nil {
			return "", err
		}
		var rules struct {
			Groups []any `json:"groups"`
		}
		if err := yaml.UnmarshalStrict(text, &rules); err != nil {
			return "", fmt.Errorf("%s: %w", source, err)
		}
		groups = append(groups, rules.Groups...)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "monitoring.coreos.com/v1",
		"kind":       "PrometheusRule",
		"metadata": map[string]any{
			"name":   "ssdprobe",
			"labels": map[string]string{"app.kubernetes.io/name": "ssdprobe", "app.kubernetes.io/instance": "ssdprobe"},
		},
		"spec": map[string]any{"groups": groups},
	})
	return fmt.Sprintf(madeBy, rulesDir) + string(text), err
}
