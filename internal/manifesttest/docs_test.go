package manifesttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The kustomization of one's own in docs/install-kubernetes.md.
func TestDocumentedKustomizationBuilds(t *testing.T) {
	block := regexp.MustCompile(`(?m)(^    apiVersion: kustomize.*\n(?:    .*\n)+)`).FindString(read(t, at("docs", "install-kubernetes.md")))
	require.NotEmpty(t, block)
	text := regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, "")
	const remote = "github.com/ssdprobe/ssdprobe/deploy/kubernetes/raw-devices"
	require.Contains(t, text, remote)

	dir, err := os.MkdirTemp(at("internal", "manifesttest"), ".test-") // kustomize takes no absolute path
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	write(t, filepath.Join(dir, "kustomization.yaml"), strings.Replace(text, remote, "../../../deploy/kubernetes/raw-devices", 1), 0o644)
	write(t, filepath.Join(dir, "ssdprobe.yaml"), "drift: {window: 10m}\n", 0o644)

	all := parse(t, run(t, tool(t, "kustomize"), "build", dir))
	pod := all.daemonSet(t).Spec.Template.Spec
	assert.Equal(t, "registry.example/ssdprobe:0.1.0", pod.Containers[0].Image)
	assert.Equal(t, map[string]string{"node-role.kubernetes.io/storage": ""}, pod.NodeSelector)
	assert.Equal(t, "10m0s", all.config(t).Drift.Window.String())
	for name := range all {
		assert.NotContains(t, name, "manifesttest", "kinds of the Prometheus Operator are left out")
	}
}
