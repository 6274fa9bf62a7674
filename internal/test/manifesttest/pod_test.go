package manifesttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// pod is one pod of the DaemonSet, without a kubelet: runc runs its container as containerd
// would, except for the network, which is this machine's, and the seccomp filter.
type pod struct {
	*container
	description corev1.PodSpec
}

// volumes are directories and files that stand for the pod's volumes, by name.
type volumes map[string]string

// shipped returns the configuration of a mode, for the test to extend.
func shipped(t *testing.T, mode string) string {
	t.Helper()
	all := kustomize(t, mode)
	file, ok := all["*v1.ConfigMap "+configVolume(t, all.daemonSet(t)).Name].(*corev1.ConfigMap)
	require.True(t, ok)
	return strings.ReplaceAll(file.Data["ssdprobe.yaml"], "{}", "")
}

// start runs the container of a mode with a configuration.
func start(t *testing.T, mode, configuration string, given volumes) *pod {
	t.Helper()
	image := t.TempDir()
	write(t, filepath.Join(image, "usr", "bin", "ssdprobe"), read(t, program(t)), 0o755)
	return startImage(t, image, mode, configuration, given)
}

// startImage is like start, with the given image: a directory that becomes the root.
func startImage(t *testing.T, image, mode, configuration string, given volumes) *pod {
	t.Helper()
	all := kustomize(t, mode)
	given["config"] = t.TempDir()
	write(t, filepath.Join(given["config"], "ssdprobe.yaml"), configuration, 0o644)

	bundle := t.TempDir()
	require.NoError(t, os.Chmod(bundle, 0o755))
	require.NoError(t, os.CopyFS(filepath.Join(bundle, "rootfs"), os.DirFS(image)))
	given["termination-log"] = filepath.Join(bundle, "termination-log")
	write(t, given["termination-log"], "", 0o666)

	p := &pod{newContainer(t, mode), all.daemonSet(t).Spec.Template.Spec}
	output := p.run(bundle, p.spec(given))
	p.awaitURL(func() string { return read(t, output) })
	return p
}

// quick configures probes with short intervals, for busy machines.
const quick = `
discovery_interval: 1s
admission: {max_cpu_wait: 1, max_io_pressure: 1, max_utilisation: 1}
probes:
  - {name: read-4k, interval: 1s, ios: 16, timeout: 10s}
`

func TestPodMeasuresRawDevices(t *testing.T) {
	t.Parallel()
	const size = 37 << 20 // no other loop device has this size
	first := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	p := start(t, "raw-devices", shipped(t, "raw-devices")+quick+fmt.Sprintf("devices: {include: [{name: loop*, min_size: %d, max_size: %d}]}\n", size, size),
		volumes{"dev": "/dev", "locks": t.TempDir(), "state": t.TempDir()})
	p.measures(filepath.Base(first.Path))

	// A device that appeared after the container was started.
	second := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	p.measures(filepath.Base(second.Path))

	// The kubectl exec of docs/install-kubernetes.md.
	out := p.exec("/usr/bin/ssdprobe", "run", "--target="+second.Path, "--rounds=1", "--verbose")
	assert.Contains(t, out, "read-4k")
	assert.Contains(t, out, " on "+nodeName, "not the pod's name")
	p.exec("/usr/bin/ssdprobe", "ready")
	assert.Contains(t, p.exec("/usr/bin/ssdprobe", "drift"), nodeName)
}

func TestPodMeasuresFilesWithoutPrivilege(t *testing.T) {
	t.Parallel()
	p := start(t, "files", shipped(t, "files")+quick, volumes{"state": volumeForFiles(t)})
	p.measures(`loop\d+`)
	assert.Equal(t, "65532 65532 65532 65532", p.process(p.pid(), "Uid"))
	p.noCapability(p.pid())
	assert.Contains(t, p.exec("/usr/bin/ssdprobe", "drift"), nodeName)
}

// volumeForFiles returns a volume as the kubelet prepares it for fsGroup.
func volumeForFiles(t *testing.T) string {
	t.Helper()
	volume := testenv.Ext4(t, 256<<20)
	require.NoError(t, os.Chown(volume, -1, 65532))
	require.NoError(t, os.Chmod(volume, 0o2775))
	return volume
}

// A volume of local-path is a directory of the node that everybody may write to. An init container takes it, as
// docs/install-kubernetes.md says, and again when the pod starts once more.
func TestPodForFilesOnADirectoryOfTheNode(t *testing.T) {
	t.Parallel()
	own, _ := block(t, "apiVersion: kustomize")
	patch, _ := block(t, "patches:\n      # The volume")
	pod := ownKustomization(t, strings.Replace(own, "raw-devices", "files", 1)+patch, "").daemonSet(t).Spec.Template.Spec
	require.Len(t, pod.InitContainers, 1)
	values, _ := block(t, "initContainers:")
	path := filepath.Join(t.TempDir(), "values.yaml")
	write(t, path, values, 0o644)
	require.Equal(t, pod.InitContainers, helm(t, "--set", "mode=files", "--values", path).daemonSet(t).Spec.Template.Spec.InitContainers)

	taking := pod.InitContainers[0]
	volume := testenv.Ext4(t, 256<<20)
	require.NoError(t, os.Chmod(volume, 0o777))
	require.Equal(t, "state", taking.VolumeMounts[0].Name)
	command := strings.ReplaceAll(taking.Command[2], taking.VolumeMounts[0].MountPath, volume)
	for range 2 {
		run(t, "setpriv", "--bounding-set=-all,+chown,+fowner", "--inh-caps=-all", taking.Command[0], taking.Command[1], command)
	}
	p := start(t, "files", shipped(t, "files")+quick, volumes{"state": volume})
	p.measures(`loop\d+`)
}

// A custom kustomization has replaced the configuration of the mode, and does not say where state is kept.
func TestPodForFilesKeepsItsStateWhateverItIsConfiguredFor(t *testing.T) {
	t.Parallel()
	p := start(t, "files", "devices: {enabled: false}\nhealth: {enabled: false}\n"+quick, volumes{"state": volumeForFiles(t)})
	p.measures(`loop\d+`)
}
