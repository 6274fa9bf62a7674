package manifesttest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestChartPassesLint(t *testing.T) {
	out := run(t, tool(t, "helm"), "lint", "--strict", "--kube-version", kubeVersion, at("deploy", "helm", "ssdprobe"))
	assert.Contains(t, out, "0 chart(s) failed")
}

func TestChartTakesValues(t *testing.T) {
	all := helm(t,
		"--set", "mode=files,image.repository=registry.example/ssdprobe,image.tag=1.2.3,volume.storageClassName=fast,volume.size=2Gi",
		"--set", "config.drift.window=10m,priorityClass.create=false,priorityClass.name=storage",
		"--set", "podMonitor.enabled=false,prometheusRule.enabled=false,networkPolicy.enabled=false,dashboards.enabled=false",
		"--set", "extraArgs={--log.level=debug}",
	)
	pod := all.daemonSet(t).Spec.Template.Spec
	c := all.config(t)
	assert.Equal(t, "10m0s", c.Drift.Window.String())
	assert.False(t, c.Devices.Enabled, "what the mode needs stays")
	assert.Equal(t, "registry.example/ssdprobe:1.2.3", pod.Containers[0].Image)
	assert.Equal(t, []string{"daemon", "--config=/etc/ssdprobe/ssdprobe.yaml", "--log.format=json", "--node=$(NODE_NAME)", "--log.level=debug"}, pod.Containers[0].Args)
	assert.Equal(t, "storage", pod.PriorityClassName)
	claim := pod.Volumes[1].Ephemeral.VolumeClaimTemplate.Spec
	assert.Equal(t, "fast", *claim.StorageClassName)
	assert.Equal(t, "2Gi", claim.Resources.Requests.Storage().String())

	var kinds []string
	for kind := range all {
		kinds = append(kinds, kind)
	}
	assert.ElementsMatch(t, []string{"*v1.DaemonSet ssdprobe", "*v1.ServiceAccount ssdprobe", "*v1.ConfigMap ssdprobe"}, kinds)
}

func TestChartProbesAFilesystemOfTheNode(t *testing.T) {
	all := helm(t, "--set", "config.files[0].path=/srv/data",
		"--set", "extraVolumes[0].name=data,extraVolumes[0].hostPath.path=/srv/data",
		"--set", "extraVolumeMounts[0].name=data,extraVolumeMounts[0].mountPath=/srv/data")
	pod := all.daemonSet(t).Spec.Template.Spec
	assert.Contains(t, pod.Volumes, corev1.Volume{
		Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv/data"}},
	})
	assert.Contains(t, pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/srv/data"})
	files := all.config(t).Files
	require.Len(t, files, 1)
	assert.Equal(t, "/srv/data", files[0].Path)
}

func TestChartRefusesAnUnknownMode(t *testing.T) {
	_, stderr, err := try(t, tool(t, "helm"), template("--set", "mode=disks")...)
	require.Error(t, err)
	assert.Contains(t, stderr, `mode: "disks" is unknown; want raw-devices or files`)
}
