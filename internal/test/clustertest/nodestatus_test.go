//go:build kubernetes

package clustertest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ssdprobe/ssdprobe/internal/nodestatus"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// slowDrive returns the condition SlowDrive of a node, and whether there is one.
func slowDrive(t *testing.T, name string) (c corev1.NodeCondition, found bool) {
	t.Helper()
	all := get[corev1.Node](t, "node", name).Status.Conditions
	i := slices.IndexFunc(all, func(c corev1.NodeCondition) bool { return c.Type == nodestatus.ConditionType })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// Pods of the chart report on their nodes to the cluster, with the tokens that a kubelet gives them
// and under the policy. Their reports are gone with the release.
func testNodeStatus(t *testing.T) {
	drive := testenv.LoopDevice(t, driveBytes, testenv.Options{Random: true})
	makeNamespace(t, "privileged")
	install(t, " --values "+values(t, impatient+watchDrive+"kubernetes: {enabled: true, taint: PreferNoSchedule}\n"))
	all := rolledOut(t)
	for name, pod := range all {
		measures(t, pod, filepath.Base(drive.Path), 3)
		eventually(t, "the drive of "+name+" is judged", func() bool {
			c, found := slowDrive(t, name)
			return found && c.Status == corev1.ConditionFalse && c.Reason == nodestatus.NoSlowDrive
		})
		success, ok := metric(t, pod, "ssdprobe_collector_success", `collector="kubernetes"`)
		assert.True(t, ok)
		assert.InDelta(t, 1, success, 0)
		assert.Contains(t, sh(t, strings.Replace(command(t, "kubectl describe node NODE"), "NODE", name, 1)), "healthy: 1 drive on "+name)
		assert.NotEmpty(t, get[corev1.Node](t, "node", name).Status.NodeInfo.KubeletVersion, "what the kubelet wrote is there still")
	}

	// A killed daemon leaves this taint behind.
	kubectl(t, "taint", "node", nodes[1], nodestatus.TaintKey+":PreferNoSchedule")
	sh(t, "helm uninstall ssdprobe --namespace ssdprobe --timeout 4m")
	for _, name := range nodes {
		_, found := slowDrive(t, name)
		assert.False(t, found, name)
		assert.NotContains(t, kubectl(t, "get", "node", name, "-o", "jsonpath={.spec.taints}"), nodestatus.TaintKey)
	}
	left := kubectl(t, "get", "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings", "-o", "name") +
		kubectl(t, "--namespace", namespace, "get", "jobs,roles,rolebindings,serviceaccounts", "-o", "name")
	for line := range strings.Lines(left) {
		require.NotContains(t, line, "ssdprobe")
	}
}
