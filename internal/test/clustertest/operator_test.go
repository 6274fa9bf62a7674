//go:build kubernetes

package clustertest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operatorVersion is the version of the Prometheus Operator against whose kinds the objects are checked.
const operatorVersion = "v0.85.0"

// With the operator's kinds present, the same command creates the operator's objects, and the API server accepts them.
func testOperator(t *testing.T) {
	var module struct{ Dir string }
	c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/prometheus-operator/prometheus-operator@"+operatorVersion)
	c.Dir = t.TempDir()
	require.NoError(t, json.Unmarshal([]byte(run(t, c)), &module))
	var files []string
	for _, kind := range []string{"podmonitors", "prometheusrules"} {
		files = append(files, "-f", filepath.Join(module.Dir, "example", "prometheus-operator-crd", "monitoring.coreos.com_"+kind+".yaml"))
	}
	kubectl(t, append([]string{"create"}, files...)...)
	t.Cleanup(func() {
		out, errs, err := try(bash("kubectl delete " + strings.Join(files, " ")))
		assert.NoError(t, err, out+errs)
	})
	kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/podmonitors.monitoring.coreos.com", "crd/prometheusrules.monitoring.coreos.com")
	makeNamespace(t, "privileged")
	assert.NotContains(t, install(t, ""), "Left out")
	rolledOut(t)
	found := kubectl(t, "--namespace", namespace, "get", "podmonitors,prometheusrules", "-o", "name")
	assert.ElementsMatch(t, []string{"podmonitor.monitoring.coreos.com/ssdprobe", "prometheusrule.monitoring.coreos.com/ssdprobe"}, strings.Fields(found))
	for _, mode := range []string{"raw-devices", "files"} {
		kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-k", "deploy/kubernetes/"+mode)
	}
}
