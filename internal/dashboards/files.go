package dashboards

import (
	"fmt"
	"maps"
	"path"
	"slices"
)

// Folders returns the directories in which every file is generated here.
func Folders() []string {
	return []string{"dashboards", monitoringDir + "/dashboards", "deploy/mixin/dashboards"}
}

const (
	monitoringDir = "deploy/kubernetes/monitoring"

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

// Files returns all files generated here, by their paths in the repository. The dashboards exist three times, because
// kustomize reads no files outside its own directory, and users may install only the mixin.
func Files() (map[string]string, error) {
	list := fmt.Sprintf(madeBy, "dashboards") + kustomization
	files := map[string]string{}
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
