package manifesttest

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// block returns the only block of docs/install-kubernetes.md that begins with begin, and its position.
func block(t *testing.T, begin string) (text string, place int) {
	t.Helper()
	document := read(t, at("docs", "install-kubernetes.md"))
	found := regexp.MustCompile(`(?m)^\n    `+regexp.QuoteMeta(begin)+`(?:.*\n    )*.*\n`).FindAllStringIndex(document, -1)
	require.Len(t, found, 1, begin)
	text = document[found[0][0]+1 : found[0][1]]
	return regexp.MustCompile(`(?m)^    `).ReplaceAllString(text, ""), found[0][0]
}

// The documented custom kustomization builds, in its minimal form and with all options.
func TestDocumentedKustomizationBuilds(t *testing.T) {
	own, _ := block(t, "apiVersion: kustomize")
	more, _ := block(t, "configMapGenerator:")
	plain := ownKustomization(t, own, "")
	assert.Empty(t, plain.daemonSet(t).Spec.Template.Spec.NodeSelector)
	assert.Contains(t, plain, "*manifesttest.podMonitor ssdprobe")

	all := ownKustomization(t, own+more, "drift: {window: 10m}\n")
	pod := all.daemonSet(t).Spec.Template.Spec
	assert.Equal(t, map[string]string{"node-role.kubernetes.io/storage": ""}, pod.NodeSelector)
	assert.Equal(t, "10m0s", all.config(t).Drift.Window.String())
	for name := range all {
		assert.NotContains(t, name, "manifesttest", "kinds of the Prometheus Operator are left out")
	}
}

// A user who follows the document from the top runs the image that was pushed.
func TestDocumentedStepsRunTheImageThatWasPushed(t *testing.T) {
	document := read(t, at("docs", "install-kubernetes.md"))
	pushed := regexp.MustCompile(`docker push (\S+)`).FindStringSubmatch(document)
	require.NotNil(t, pushed)
	own, place := block(t, "apiVersion: kustomize")
	assert.Equal(t, pushed[1], ownKustomization(t, own, "").daemonSet(t).Spec.Template.Spec.Containers[0].Image)
	applied := regexp.MustCompile(`kubectl (?:apply|delete) -k (\S+)`).FindAllStringSubmatchIndex(document, -1)
	require.NotEmpty(t, applied)
	for _, match := range applied {
		assert.Equal(t, ".", document[match[2]:match[3]], "the kustomization of one's own")
		assert.Greater(t, match[0], place, "after it")
	}

	install := regexp.MustCompile(`(?m)^    helm install ssdprobe deploy/helm/ssdprobe (?:.*\\\n)*.*--set (\S+)$`).FindStringSubmatch(document)
	require.NotNil(t, install)
	assert.Equal(t, pushed[1], helm(t, "--set", install[1]).daemonSet(t).Spec.Template.Spec.Containers[0].Image)
	for _, mode := range modes {
		assert.NotContains(t, read(t, at("deploy", "kubernetes", mode, "kustomization.yaml")), "kubectl apply", "its image is in no registry")
	}
}

// A custom configuration replaces that of the mode.
func TestDocumentedKeysAreThoseThatFilesNeed(t *testing.T) {
	repeated, _ := block(t, "devices: {enabled: false}")
	assert.YAMLEq(t, read(t, at("deploy", "kubernetes", "files", "ssdprobe.yaml")), repeated)
	own, _ := block(t, "apiVersion: kustomize")
	more, _ := block(t, "configMapGenerator:")
	all := ownKustomization(t, strings.Replace(own, "raw-devices", "files", 1)+more, repeated)
	assert.Equal(t, kustomize(t, "files").config(t), all.config(t))
	assert.Contains(t, all.daemonSet(t).Spec.Template.Spec.Containers[0].Args, "--state-dir=/var/lib/ssdprobe")
}

// With a password and TLS, the kubelet and Prometheus still have access.
func TestDocumentedTLS(t *testing.T) {
	values, _ := block(t, "extraVolumes:")
	path := filepath.Join(t.TempDir(), "values.yaml")
	write(t, path, values, 0o644)
	for _, mode := range modes {
		all := helm(t, "--values", path, "--set", "mode="+mode)
		pod := all.daemonSet(t).Spec.Template.Spec
		container := pod.Containers[0]
		assert.EqualValues(t, "HTTPS", container.LivenessProbe.HTTPGet.Scheme)
		assert.Equal(t, "/-/healthy", container.LivenessProbe.HTTPGet.Path)
		assert.EqualValues(t, "HTTPS", container.ReadinessProbe.HTTPGet.Scheme)
		assert.Equal(t, "/-/ready", container.ReadinessProbe.HTTPGet.Path)
		assert.Equal(t, "--web.config.file=/etc/ssdprobe-web/web.yml", container.Args[len(container.Args)-1])
		assert.Equal(t, "/etc/ssdprobe-web", container.VolumeMounts[len(container.VolumeMounts)-1].MountPath)
		assert.Equal(t, "ssdprobe-web", pod.Volumes[len(pod.Volumes)-1].Secret.SecretName)

		monitor, ok := all["*manifesttest.podMonitor ssdprobe"].(*podMonitor)
		require.True(t, ok)
		endpoint := monitor.Spec.PodMetricsEndpoints[0]
		assert.Equal(t, "https", endpoint.Scheme)
		var want struct {
			PodMonitor struct{ TLSConfig, BasicAuth any }
		}
		require.NoError(t, yaml.Unmarshal([]byte(values), &want))
		require.NotEmpty(t, want.PodMonitor.TLSConfig)
		assert.Equal(t, want.PodMonitor.TLSConfig, endpoint.TLSConfig)
		assert.Equal(t, want.PodMonitor.BasicAuth, endpoint.BasicAuth)
	}
}

// The credentials file gives commands in a pod access.
func TestDocumentedCredentialsOfCommands(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "correct-horse" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, `{"time": "2026-11-27T12:00:00Z", "node": "node-7", "targets": []}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	file, _ := block(t, "basic_auth: {username")
	write(t, filepath.Join(dir, "client.yml"), strings.ReplaceAll(file, "ssdprobe.example", "example.com"), 0o600)
	write(t, filepath.Join(dir, "password"), "correct-horse\n", 0o600)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.TLS.Certificates[0].Certificate[0]})
	write(t, filepath.Join(dir, "ca.crt"), string(own), 0o600)
	out := run(t, program(t), "drift", "--url", server.URL, "--http.config.file", filepath.Join(dir, "client.yml"))
	assert.Contains(t, out, "node-7")
}
