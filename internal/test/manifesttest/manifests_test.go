package manifesttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// modes are the ways to run ssdprobe in a cluster: the chart's modes, and the
// directories of deploy/kubernetes.
var modes = []string{"raw-devices", "files"}

// objects are the objects of a cluster, by kind and name.
type objects map[string]metav1.Object

func parse(t *testing.T, manifests string) objects {
	t.Helper()
	all := objects{}
	for _, text := range regexp.MustCompile(`(?m)^---$`).Split(manifests, -1) {
		if strings.TrimSpace(text) == "" {
			continue
		}
		object := decode(t, text)
		key := fmt.Sprintf("%T %s", object, object.GetName())
		require.NotContains(t, all, key)
		all[key] = object
	}
	return all
}

func kustomize(t *testing.T, mode string) objects {
	t.Helper()
	return parse(t, run(t, tool(t, "kustomize"), "build", at("deploy", "kubernetes", mode)))
}

// ownKustomization builds a custom kustomization beside a ssdprobe.yaml, with the files
// of this repository instead of the URLs of GitHub.
func ownKustomization(t *testing.T, text, configuration string) objects {
	t.Helper()
	dir, err := os.MkdirTemp(at("internal", "test", "manifesttest"), ".test-") // kustomize takes no absolute path
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	text = strings.ReplaceAll(text, "github.com/ssdprobe/ssdprobe/", "../../../../")
	require.NotContains(t, text, "github.com")
	write(t, filepath.Join(dir, "kustomization.yaml"), text, 0o644)
	write(t, filepath.Join(dir, "ssdprobe.yaml"), configuration, 0o644)
	return parse(t, run(t, tool(t, "kustomize"), "build", dir))
}

func helm(t *testing.T, args ...string) objects {
	t.Helper()
	return parse(t, run(t, tool(t, "helm"), template(args...)...))
}

// template returns the arguments to render the chart with helm, for a cluster with the Prometheus Operator.
func template(args ...string) []string {
	return append(templateBare("--api-versions", "monitoring.coreos.com/v1/PodMonitor,monitoring.coreos.com/v1/PrometheusRule"), args...)
}

// templateBare is like template, for a cluster without the operator.
func templateBare(args ...string) []string {
	return append([]string{
		"template", "ssdprobe", at("deploy", "helm", "ssdprobe"), "--namespace", "ssdprobe", "--kube-version", kubeVersion, "--skip-tests",
	}, args...)
}

// kubeVersion is the Kubernetes version passed to helm. By default helm uses the version
// it was released with, which it does not know if it was built from the module.
const kubeVersion = "1.34.0"

func (o objects) daemonSet(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	set, ok := o["*v1.DaemonSet ssdprobe"].(*appsv1.DaemonSet)
	require.True(t, ok, "no DaemonSet in %v", o)
	return set
}

// config returns the configuration of the pods.
func (o objects) config(t *testing.T) config.Config {
	t.Helper()
	file, ok := o["*v1.ConfigMap "+configVolume(t, o.daemonSet(t)).Name].(*corev1.ConfigMap)
	require.True(t, ok, "no such ConfigMap in %v", o)
	c, err := config.Parse(strings.NewReader(file.Data["ssdprobe.yaml"]))
	require.NoError(t, err)
	return c
}

func configVolume(t *testing.T, set *appsv1.DaemonSet) *corev1.ConfigMapVolumeSource {
	t.Helper()
	volumes := set.Spec.Template.Spec.Volumes
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == "config" })
	require.GreaterOrEqual(t, i, 0, "no volume named config")
	return volumes[i].ConfigMap
}

// texts returns all objects as text, without equivalent differences between kustomize and
// helm: how a new configuration causes a rollout and is formatted, and the order of volumes.
func (o objects) texts(t *testing.T) map[string]string {
	t.Helper()
	set := o.daemonSet(t).DeepCopy()
	delete(set.Spec.Template.Annotations, "checksum/config")
	configVolume(t, set).Name = "ssdprobe"
	pod := &set.Spec.Template.Spec
	slices.SortFunc(pod.Volumes, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(pod.Containers[0].VolumeMounts, func(a, b corev1.VolumeMount) int { return strings.Compare(a.Name, b.Name) })

	all := map[string]string{}
	for name, object := range o {
		if name == "*v1.ConfigMap "+configVolume(t, o.daemonSet(t)).Name {
			continue
		}
		if name == "*v1.DaemonSet ssdprobe" {
			object = set
		}
		text, err := yaml.Marshal(object)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}

func TestHelmAndKustomizeGiveTheSame(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			byKustomize := kustomize(t, mode)
			byHelm := helm(t, "--set", "mode="+mode)
			assert.Equal(t, byKustomize.config(t), byHelm.config(t))
			want, got := byKustomize.texts(t), byHelm.texts(t)
			require.Len(t, got, len(want))
			for name, text := range want {
				assert.Equal(t, text, got[name], name)
			}
		})
	}
	assert.Equal(t, kustomize(t, modes[0]).texts(t), helm(t).texts(t), "the default mode")
}

func TestEachModeConfiguresWhatItIsFor(t *testing.T) {
	want := config.Default()
	want.FallbackFile = false // whatever the node has, these pods only read
	assert.Equal(t, want, kustomize(t, "raw-devices").config(t))

	want.Devices.Enabled = false
	want.Health.Enabled = false
	want.IOLatency = config.IOLatencyNever // no rights for it
	want.StateDir = "/var/lib/ssdprobe"
	want.Files = []config.File{{Path: "/var/lib/ssdprobe/probe", SizeBytes: 1 << 30}}
	assert.Equal(t, want, kustomize(t, "files").config(t))
}

// The pod meets the restricted pod security standard, except for the kinds of volumes.
func TestFilesNeedNoPrivilege(t *testing.T) {
	pod := kustomize(t, "files").daemonSet(t).Spec.Template.Spec
	assert.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.Len(t, pod.Containers, 1)
	yes, no := true, false
	assert.Equal(t, &corev1.SecurityContext{
		Privileged: &no, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, pod.Containers[0].SecurityContext)
	for _, volume := range pod.Volumes {
		assert.Nil(t, volume.HostPath, volume.Name)
	}
}

func TestRawDevicesSeeNoMoreOfTheNodeThanNeeded(t *testing.T) {
	pod := kustomize(t, "raw-devices").daemonSet(t).Spec.Template.Spec
	assert.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
	require.Len(t, pod.Containers, 1)
	assert.True(t, *pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	writable := map[string]bool{}
	mounts := map[string]corev1.VolumeMount{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		mounts[mount.Name] = mount
	}
	for _, volume := range pod.Volumes {
		if volume.HostPath != nil {
			writable[volume.HostPath.Path] = !mounts[volume.Name].ReadOnly
		}
	}
	assert.Equal(t, map[string]bool{"/dev": false, "/run/ssdprobe": true, "/var/lib/ssdprobe": true}, writable)
}

func TestNoTokenAndNoCPULimit(t *testing.T) {
	for _, mode := range modes {
		all := kustomize(t, mode)
		pod := all.daemonSet(t).Spec.Template.Spec
		assert.False(t, *pod.AutomountServiceAccountToken, mode)
		account, ok := all["*v1.ServiceAccount "+pod.ServiceAccountName].(*corev1.ServiceAccount)
		require.True(t, ok, mode)
		assert.False(t, *account.AutomountServiceAccountToken, mode)
		for _, container := range pod.Containers {
			assert.NotContains(t, container.Resources.Limits, corev1.ResourceCPU, mode)
			assert.Contains(t, container.Resources.Limits, corev1.ResourceMemory, mode)
			assert.Contains(t, container.Resources.Requests, corev1.ResourceCPU, mode)
			assert.Contains(t, container.Resources.Requests, corev1.ResourceMemory, mode)
		}
	}
}

// Everything that selects pods has to select these.
func TestSelectorsMatchThePods(t *testing.T) {
	for _, mode := range modes {
		all := kustomize(t, mode)
		set := all.daemonSet(t)
		monitor, ok := all["*manifesttest.podMonitor ssdprobe"].(*podMonitor)
		require.True(t, ok)
		require.Len(t, monitor.Spec.PodMetricsEndpoints, 1)
		endpoint := monitor.Spec.PodMetricsEndpoints[0]
		assert.Equal(t, set.Spec.Selector, &monitor.Spec.Selector)
		assert.Equal(t, set.Spec.Selector.MatchLabels, set.Spec.Template.Labels)
		assert.Equal(t, endpoint.Port, set.Spec.Template.Spec.Containers[0].Ports[0].Name)
		assert.Equal(t, "/metrics", endpoint.Path)
	}
}
