package manifesttest

import (
	"regexp"
	"strings"
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
	assert.Equal(t, []string{"daemon", "--log.format=json", "--state-dir=/var/lib/ssdprobe", "--log.level=debug"}, pod.Containers[0].Args)
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
	document := read(t, at("docs", "install-kubernetes.md"))
	var sets []string
	for _, set := range regexp.MustCompile(`--set '(.*)'`).FindAllStringSubmatch(document, -1) {
		sets = append(sets, "--set", set[1])
	}
	require.Len(t, sets, 2*3)
	all := helm(t, sets...)
	pod := all.daemonSet(t).Spec.Template.Spec
	assert.Contains(t, pod.Volumes, volumeOfTheNode("/srv/data", corev1.HostPathDirectory))
	assert.Contains(t, pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/srv/data"})
	files := all.config(t).Files
	require.Len(t, files, 1)
	assert.Equal(t, "/srv/data", files[0].Path)
}

func volumeOfTheNode(path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
}

// Without a type, Kubernetes creates a directory on the root disk if a mount is missing.
func TestChartWantsTheDirectoriesOfTheNodeToBeThere(t *testing.T) {
	for set, want := range map[string]corev1.HostPathType{
		"extraVolumes[0].hostPath.path=/srv/data":                                                 corev1.HostPathDirectory,
		"extraVolumes[0].hostPath.path=/srv/data,extraVolumes[0].hostPath.type=DirectoryOrCreate": corev1.HostPathDirectoryOrCreate,
		"extraVolumes[0].hostPath.path=/srv/data,extraVolumes[0].hostPath.type=":                  corev1.HostPathUnset,
	} {
		volumes := helm(t, "--set", "extraVolumes[0].name=data", "--set", set).daemonSet(t).Spec.Template.Spec.Volumes
		assert.Contains(t, volumes, volumeOfTheNode("/srv/data", want), set)
	}
	volumes := helm(t, "--set", "extraVolumes[0].name=data,extraVolumes[0].secret.secretName=web").daemonSet(t).Spec.Template.Spec.Volumes
	assert.Nil(t, volumes[len(volumes)-1].HostPath)
	for _, mode := range modes {
		for _, volume := range kustomize(t, mode).daemonSet(t).Spec.Template.Spec.Volumes {
			if volume.HostPath == nil {
				continue
			}
			own := strings.HasSuffix(volume.HostPath.Path, "/ssdprobe")
			assert.Equal(t, own, *volume.HostPath.Type == corev1.HostPathDirectoryOrCreate, volume.Name)
			assert.Equal(t, !own, *volume.HostPath.Type == corev1.HostPathDirectory, volume.Name)
		}
	}
}

// Each invalid value is refused, with its name and the reason.
func TestChartRefusesBadValues(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"mode=disks":                                      `'/mode': value must be one of 'raw-devices', 'files'`,
		"mode=null":                                       `missing property 'mode'`,
		"extraArgs=--log.level=debug":                     `'/extraArgs': got string, want array`,
		"extraArgs={1}":                                   `'/extraArgs/0': got number, want string`,
		"extraArgs={--web.listen-address=:80}":            "extraArgs: --web.listen-address=:80: leave it out; the probes, ",
		"extraArgs={--web.systemd-socket}":                "extraArgs: --web.systemd-socket: leave it out; the probes, ",
		"extraArgs={--node=a}":                            "extraArgs: --node=a: leave it out; the chart says it by SSDPROBE_NODE",
		"extraArgs={--config}":                            "extraArgs: --config: leave it out; the chart says it by SSDPROBE_NODE",
		"config=text":                                     `'/config': got string, want null or object`,
		"config={a}":                                      `'/config': got array, want null or object`,
		"config.fleet=true":                               `'/config/fleet': got boolean, want null or object`,
		"config.fleet.enabled=yes":                        `'/config/fleet/enabled': got string, want boolean`,
		"config.fleet.lease=":                             `'/config/fleet/lease': '' does not match pattern`,
		"config.listen={:80}":                             "config.listen: leave it out; the probes, ",
		"config.node=storage-7":                           "config.node: leave it out; the chart sets it to the name of the node, by SSDPROBE_NODE",
		"cleanup=null":                                    `missing property 'cleanup'`,
		"cleanup.enabled=null":                            `'/cleanup': missing property 'enabled'`,
		"cleanup.enabled=no":                              `'/cleanup/enabled': got string, want boolean`,
		"enabled=no":                                      `'/enabled': got string, want boolean`,
		"priorityClass.create=no":                         `'/priorityClass/create': got string, want boolean`,
		"priorityClass.value=null":                        `'/priorityClass': missing property 'value'`,
		"priorityClass.value=2000000000":                  `'/priorityClass/value': maximum: got 2`,
		"dashboards.labels.grafana_dashboard=1":           `'/dashboards/labels/grafana_dashboard': got number, want string`,
		"dashboards.labels=text":                          `'/dashboards/labels': got string, want object`,
		"podMonitor.labels.release=true":                  `'/podMonitor/labels/release': got boolean, want string`,
		"podMonitor.scheme=ftp":                           `'/podMonitor/scheme': value must be one of '', 'http', 'https'`,
		"podMonitor.basicAuth=me":                         `'/podMonitor/basicAuth': got string, want object`,
		"updateStrategy.type=Recreate":                    `'/updateStrategy/type': value must be one of 'RollingUpdate', 'OnDelete'`,
		"updateStrategy.maxUnavailable=1":                 `'/updateStrategy': additional properties 'maxUnavailable' not allowed`,
		"updateStrategy.rollingUpdate.maxUnavailable=ten": `'/updateStrategy/rollingUpdate/maxUnavailable': 'ten' does not match pattern`,
		"podMonitor.interval=60":                          `'/podMonitor/interval': got number, want string`,
		"podMonitor.scrapeTimeout=often":                  `'/podMonitor/scrapeTimeout': 'often' does not match pattern`,
		"podMonitor.relabelings=drop":                     `'/podMonitor/relabelings': got string, want array`,
		"podMonitor.interval=1h":                          `'/podMonitor/interval': '1h' does not match pattern`,
		"serviceMonitor.serviceDiscoveryRole=x":           `'/serviceMonitor/serviceDiscoveryRole': value must be one of '', 'Endpoints', 'EndpointSlice'`,
		"probes.scheme=https":                             `'/probes/scheme': value must be one of 'HTTP', 'HTTPS'`,
		"probes=null":                                     `missing property 'probes'`,
		"image.tag=2024":                                  `'/image/tag': got number, want string`,
		"image.repository=":                               `'/image/repository': '' does not match pattern`,
		"image.repository=registry/ssdprobe:v1":           `'/image/repository': 'registry/ssdprobe:v1' does not match pattern`,
		"image.repository=ssdprobe@sha256:00":             `'/image/repository': 'ssdprobe@sha256:00' does not match pattern`,
		"imgae.tag=v2":                                    `additional properties 'imgae' not allowed`,
		"priorityClass.naming=storage":                    `'/priorityClass': additional properties 'naming' not allowed`,
		"volume.size=null":                                `'/volume': missing property 'size'`,
		"volume.size=12GB":                                `'/volume/size': '12GB' does not match pattern`,
		"volume.size=12 Gi":                               `'/volume/size': '12 Gi' does not match pattern`,
		"volume.size=-1Gi":                                `'/volume/size': '-1Gi' does not match pattern`,
		"volume.size=0Gi":                                 `'/volume/size': '0Gi' does not match pattern`,
		"volume.size=0":                                   `'/volume/size': exclusiveMinimum: got 0, want 0`,
		"resources.limits.memory=384mi":                   `'/resources/limits/memory': '384mi' does not match pattern`,
		"resources.requests.cpu=one":                      `'/resources/requests/cpu': 'one' does not match pattern`,
		"resources.requests.cpu=-1":                       `'/resources/requests/cpu': minimum: got -1, want 0`,
		"podMonitor.scrapeTimeout=999999999m":             `'/podMonitor/scrapeTimeout': '999999999m' does not match pattern`,
		"nodeSelector.storage=true":                       `'/nodeSelector/storage': got boolean, want string`,
		"networkPolicy.apiServer.ports=null":              `'/networkPolicy/apiServer': missing property 'ports'`,
		"networkPolicy.apiServer.ports={https}":           `'/networkPolicy/apiServer/ports/0': got string, want integer`,
	} {
		commands := [][]string{template()}
		if !strings.Contains(want, "leave it out") { // lint does not report what templates refuse
			commands = append(commands, []string{"lint", "--kube-version", kubeVersion, at("deploy", "helm", "ssdprobe")})
		}
		for _, args := range commands {
			stdout, stderr, err := try(t, tool(t, "helm"), append(args, "--set", set)...)
			require.Error(t, err, "%s %s", args[0], set)
			// lint prints its findings.
			all := stdout + stderr
			assert.Contains(t, all, want, set)
			for _, obscure := range []string{"reflect", "nil pointer", "YAML parse error", "wrong type for value"} {
				assert.NotContains(t, all, obscure, set)
			}
		}
	}
	// For users who render without the schema.
	_, stderr, err := try(t, tool(t, "helm"), template("--set", "mode=disks", "--skip-schema-validation")...)
	require.Error(t, err)
	assert.Contains(t, stderr, `mode: "disks" is unknown; want raw-devices or files`)
}

// The operator ignores a monitor whose scrapes may take longer than their interval, and says so in its own log alone.
func TestChartRefusesScrapesThatTakeLongerThanTheirInterval(t *testing.T) {
	t.Parallel()
	for _, monitor := range []string{"podMonitor.enabled=true", "serviceMonitor.enabled=true"} {
		for _, set := range []string{"interval=1m,podMonitor.scrapeTimeout=1m1s", "interval=999ms,podMonitor.scrapeTimeout=1s"} {
			_, stderr, err := try(t, tool(t, "helm"), template("--set", monitor+",podMonitor."+set)...)
			require.Error(t, err, set)
			assert.Regexp(t, `podMonitor\.scrapeTimeout: (1m1s|1s) is longer than podMonitor\.interval, (1m|999ms); want that or less`, stderr)
		}
		for _, interval := range []string{"2m1s", "5m"} {
			_, stderr, err := try(t, tool(t, "helm"), template("--set", monitor+",podMonitor.interval="+interval)...)
			require.Error(t, err, interval)
			assert.Contains(t, stderr, "podMonitor.interval: "+interval+" is too long, because alerts look back for five minutes; want 2m or less")
		}
		_, stderr, err := try(t, tool(t, "helm"), template("--set", monitor+",podMonitor.scrapeTimeout=2m1s")...)
		require.Error(t, err)
		assert.Contains(t, stderr, "podMonitor.scrapeTimeout: 2m1s is longer than any podMonitor.interval; want 2m or less")
		for _, set := range []string{"interval=1m,podMonitor.scrapeTimeout=60s", "scrapeTimeout=2m", "interval=2m", "scrapeTimeout=1m"} {
			helm(t, "--set", monitor+",podMonitor."+set)
		}
	}
}

// A key that is there twice has either value, or is refused, as by kustomize.
func TestChartRefusesWhatItSetsItself(t *testing.T) {
	t.Parallel()
	const name, instance = `app\.kubernetes\.io/name`, `app\.kubernetes\.io/instance`
	for set, want := range map[string]string{
		"podMonitor.labels." + name + "=x":                                                        "podMonitor.labels: app.kubernetes.io/name: leave it out",
		"serviceMonitor.enabled=true,podMonitor.labels." + name + "=x":                            "podMonitor.labels: app.kubernetes.io/name: leave it out",
		"prometheusRule.labels." + instance + "=x":                                                "prometheusRule.labels: app.kubernetes.io/instance: leave it out",
		"dashboards.labels." + instance + "=x":                                                    "dashboards.labels: app.kubernetes.io/instance: leave it out",
		"extraVolumes[0].name=state":                                                              "extraVolumes: state: leave it out",
		"mode=files,extraVolumes[0].name=config":                                                  "extraVolumes: config: leave it out",
		"extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/dev/":                        "extraVolumeMounts: /dev: leave it out",
		"mode=files,extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/var/lib/ssdprobe": "extraVolumeMounts: /var/lib/ssdprobe: leave it out",
	} {
		_, stderr, err := try(t, tool(t, "helm"), template("--set", set)...)
		require.Error(t, err, set)
		assert.Contains(t, stderr, want+"; the chart sets it", set)
	}
}

// Names of releases and namespaces may be numbers, or words that YAML knows, which no field of a manifest takes.
func TestChartTakesNamesThatAreNoTextForYAML(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--set", "config.fleet.enabled=true,config.kubernetes.enabled=true,config.kubernetes.taint=NoSchedule,serviceMonitor.enabled=true"},
		{"--set", "mode=files", "--set-string", "priorityClass.name=10,volume.storageClassName=20,nameOverride=30"},
	} {
		args = append(template(args...), "--namespace", "2024", "--skip-tests=false")
		args[1] = "1e3"
		for name, object := range parse(t, run(t, tool(t, "helm"), args...)) {
			assert.Equal(t, "1e3", object.GetLabels()["app.kubernetes.io/instance"], name)
		}
	}
}

// Valid empty values are accepted.
func TestChartTakesWhatIsLeftEmpty(t *testing.T) {
	t.Parallel()
	whole := helm(t)
	for _, set := range []string{
		"config=null", "config.fleet=null", "extraArgs=null,extraVolumes=null,extraVolumeMounts=null,initContainers=null,imagePullSecrets=null,nodeSelector=null",
		"global.imageRegistry=registry.example", "podMonitor.labels=null,prometheusRule.labels=null,podMonitor.scheme=null",
		"podMonitor.interval=null,podMonitor.scrapeTimeout=null,podMonitor.relabelings=null,podMonitor.metricRelabelings=null",
		"image.tag=null,image.pullPolicy=null,volume.storageClassName=null,priorityClass.name=null",
	} {
		assert.Equal(t, whole.texts(t), helm(t, "--set", set).texts(t), set)
	}
	assert.Equal(t, whole.config(t), helm(t, "--set", "config=null").config(t))
	for _, labels := range []string{"dashboards.labels.grafana_dashboard=null", "dashboards.labels=null"} {
		for name, object := range helm(t, "--set", labels) {
			assert.NotContains(t, object.GetLabels(), "grafana_dashboard", name)
		}
	}
	pod := helm(t, "--set", "resources=null,updateStrategy=null,affinity=null,tolerations=null").daemonSet(t).Spec.Template.Spec
	assert.Nil(t, pod.Affinity)
	assert.Empty(t, pod.Containers[0].Resources)
}

// A registry may have a port, and a tag may pin a digest.
func TestChartPutsTheNameOfTheImageTogether(t *testing.T) {
	t.Parallel()
	digest, other := "1.2.3@sha256:"+strings.Repeat("0", 64), "sha256:"+strings.Repeat("1", 64)
	for set, want := range map[string]string{
		"image.repository=registry.example:5000/storage/ssdprobe,image.tag=1.2.3": "registry.example:5000/storage/ssdprobe:1.2.3",
		"image.repository=ssdprobe,image.tag=" + digest:                           "ssdprobe:" + digest,
		"image.digest=" + other + ",image.tag=" + digest:                          "ssdprobe:1.2.3@" + other,
	} {
		assert.Equal(t, want, helm(t, "--set", set).daemonSet(t).Spec.Template.Spec.Containers[0].Image)
	}
}

// With a priority class that does not exist, no pod can be created.
func TestChartNamesNoClassThatItDoesNotMake(t *testing.T) {
	all := helm(t, "--set", "priorityClass.create=false")
	assert.Empty(t, all.daemonSet(t).Spec.Template.Spec.PriorityClassName)
	assert.NotContains(t, all, "*v1.PriorityClass ssdprobe")
	all = helm(t, "--set", "priorityClass.name=storage")
	assert.Equal(t, "storage", all.daemonSet(t).Spec.Template.Spec.PriorityClassName)
	assert.Contains(t, all, "*v1.PriorityClass storage")
}

// Whatever the configuration says, there is a directory that the pod can write to.
func TestChartSaysWhereFilesKeepTheirState(t *testing.T) {
	for set, want := range map[string]string{
		"mode=files": "/var/lib/ssdprobe", "mode=files,config.state_dir=/var/lib/ssdprobe/deep": "/var/lib/ssdprobe/deep",
		"mode=files,config.state_dir=": "/var/lib/ssdprobe",
	} {
		all := helm(t, "--set", set)
		assert.Contains(t, all.daemonSet(t).Spec.Template.Spec.Containers[0].Args, "--state-dir="+want, set)
		assert.Equal(t, want, all.config(t).StateDir, "for commands by kubectl exec")
	}
}

// With raw devices the pods of a node share its state directory: a rollout with a surge would wait forever.
func TestChartRefusesASurgeWherePodsShareState(t *testing.T) {
	t.Parallel()
	const surge = "updateStrategy.rollingUpdate.maxSurge=1"
	_, stderr, err := try(t, tool(t, "helm"), template("--set", surge)...)
	require.Error(t, err)
	assert.Contains(t, stderr, "updateStrategy.rollingUpdate.maxSurge: leave it out; with mode: raw-devices, ")
	for _, set := range []string{"updateStrategy.rollingUpdate.maxSurge=0", "updateStrategy.rollingUpdate=null", "updateStrategy.type=OnDelete"} {
		assert.NotNil(t, helm(t, "--set", set).daemonSet(t), set)
	}
	for _, set := range []string{surge, "updateStrategy.rollingUpdate.maxSurge=5%"} {
		rolling := helm(t, "--set", "mode=files,"+set).daemonSet(t).Spec.UpdateStrategy.RollingUpdate
		assert.Equal(t, "0", rolling.MaxUnavailable.String(), "Kubernetes refuses a surge beside unavailable pods")
		assert.NotEqual(t, "0", rolling.MaxSurge.String(), set)
	}
	for _, set := range []string{"maxUnavailable=0", "maxUnavailable=0%"} {
		_, stderr, err := try(t, tool(t, "helm"), template("--set", "updateStrategy.rollingUpdate."+set)...)
		require.Error(t, err, set)
		assert.Contains(t, stderr, "updateStrategy.rollingUpdate.maxUnavailable: 0 lets no pod be replaced; ", set)
	}
}
