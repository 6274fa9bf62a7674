//go:build kubernetes

package clustertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// applyOwn applies the documented custom kustomization, with the files of this repository instead
// of the URLs of GitHub.
func applyOwn(t *testing.T, kustomization, configuration string) {
	t.Helper()
	dir := testenv.OnDisk(t) // kustomize takes no absolute path
	kustomization = strings.ReplaceAll(kustomization, "github.com/ssdprobe/ssdprobe/", "../../../../")
	require.NotContains(t, kustomization, "github.com")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssdprobe.yaml"), []byte(configuration), 0o600))
	c := exec.CommandContext(t.Context(), "bash", "-euc", command(t, "kubectl apply -k"))
	c.Dir = dir
	run(t, c)
	t.Cleanup(func() {
		c := bash("kubectl delete --ignore-not-found --timeout 2m -k .")
		c.Dir = dir
		out, errs, err := try(c)
		assert.NoError(t, err, out+errs)
	})
}

// volumes are the volumes for files, one for each node: an ext4 filesystem that the kubelet makes
// writable for fsGroup.
const volumes = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`

const volume = `---
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  capacity: {storage: 12Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {path: /srv/volume}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%[1]s]}]}]}}
`

// testFiles installs the mode files with Kustomize, without the operator, in a namespace that
// enforces the strictest level.
func testFiles(t *testing.T) {
	// First of all: a kubelet that has not heard of its node's label refuses the pod, and its volume is then gone.
	kubectl(t, slices.Concat([]string{"label", "--overwrite", "node"}, nodes, []string{"node-role.kubernetes.io/storage="})...)
	manifest := volumes
	loops := map[string]testenv.Loop{}
	for _, name := range nodes {
		manifest += fmt.Sprintf(volume, name)
		loops[name] = testenv.LoopDevice(t, 300<<20, testenv.Options{})
		run(t, exec.CommandContext(t.Context(), "mkfs.ext4", "-q", loops[name].Path))
		on(t, name, "mkdir", "-p", "/srv/volume")
		on(t, name, "mount", loops[name].Path, "/srv/volume")
		t.Cleanup(func() {
			out, errs, err := try(bash("scripts/kubernetes-node.sh on " + name + " umount /srv/volume"))
			assert.NoError(t, err, out+errs)
		})
	}
	apply(t, manifest)
	t.Cleanup(func() {
		out, errs, err := try(bash("kubectl delete --timeout 2m storageclass/local persistentvolume/" + strings.Join(nodes, " persistentvolume/")))
		assert.NoError(t, err, out+errs)
	})
	makeNamespace(t, "restricted")
	own := strings.Replace(block(t, "apiVersion: kustomize"), "raw-devices", "files", 1)
	applyOwn(t, own+block(t, "configMapGenerator:"), block(t, "devices: {enabled: false}")+impatient)

	for name, pod := range rolledOut(t) {
		device := filepath.Base(loops[name].Path)
		measures(t, pod, device, 3)
		assert.Equal(t, "65532 65532 65532 65532", status(t, pod, "Uid"))
		assert.Equal(t, "0000000000000000", status(t, pod, "CapBnd"))
		assert.Equal(t, "1", status(t, pod, "NoNewPrivs"))
		assert.Equal(t, "0 65532\n", on(t, name, "stat", "-c", "%u %g", "/srv/volume"), "as the kubelet leaves it")
		assert.Contains(t, on(t, name, "find", "/srv/volume", "-user", "65532"), "/srv/volume/probe/ssdprobe.dat\n")

		var learned float64
		eventually(t, "a baseline", func() (ok bool) {
			learned, ok = metric(t, pod, "ssdprobe_baseline_learned_timestamp_seconds", `device="`+device+`"`)
			return ok
		})
		for pid := range processes(t, pod) { // the last learned state is saved on exit
			line := processes(t, pod)[pid]
			if strings.HasPrefix(line, "/usr/bin/ssdprobe daemon") {
				require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
			}
		}
		eventually(t, "the container was started anew", func() bool {
			now := pods(t)[name]
			return ready(now) && now.Status.ContainerStatuses[0].RestartCount == 1
		})
		measures(t, pod, device, 3)
		again, ok := metric(t, pod, "ssdprobe_baseline_learned_timestamp_seconds", `device="`+device+`"`)
		assert.True(t, ok)
		assert.InDelta(t, learned, again, 0, "its state is on the volume")
	}
}

// Two nodes take turns with full runs, and probing continues when the API server dies.
func testFleet(t *testing.T) {
	drive := testenv.LoopDevice(t, driveBytes, testenv.Options{Random: true})
	device := filepath.Base(drive.Path)
	makeNamespace(t, "privileged")
	own := block(t, "apiVersion: kustomize")
	require.Contains(t, document(t), "    components:\n      - github.com/ssdprobe/ssdprobe/deploy/kubernetes/fleet\n")
	applyOwn(t, own+"components:\n- ../../../../deploy/kubernetes/fleet\n- ../../../../deploy/kubernetes/without-operator\n"+
		"configMapGenerator: [{name: ssdprobe, behavior: merge, files: [ssdprobe.yaml]}]\n",
		impatient+watchDrive+`runs: [{suite: quick, schedule: "* * * * *", set: [time=2s], window: 1h, max_cpu_pressure: 1, max_others: 1}]
fleet: {enabled: true, lease_duration: 10s}
`)
	all := rolledOut(t)
	for _, name := range nodes {
		on(t, name, "rm", "-rf", "/var/lib/ssdprobe/runs") // of earlier tests
	}
	eventually(t, "both nodes have run", func() bool {
		return len(reports(t, nodes[0])) > 0 && len(reports(t, nodes[1])) > 0
	})
	assert.Contains(t, sh(t, command(t, "kubectl --namespace ssdprobe get leases")), "ssdprobe-run-0")
	for _, a := range reports(t, nodes[0]) {
		for _, b := range reports(t, nodes[1]) {
			assert.True(t, a.Finished.Before(b.Started) || b.Finished.Before(a.Started), "%s to %s, and %s to %s", a.Started, a.Finished, b.Started, b.Finished)
		}
	}

	node(t, "stop", "apiserver")
	for _, pod := range all {
		fleetCollector(t, pod, 0)
		measures(t, pod, device, 3)
	}
	node(t, "start")
	for _, pod := range all {
		fleetCollector(t, pod, 1)
	}
	before := len(reports(t, nodes[0])) + len(reports(t, nodes[1]))
	eventually(t, "runs go on", func() bool { return len(reports(t, nodes[0]))+len(reports(t, nodes[1])) > before })
}

// reports returns the runs that a node has stored.
func reports(t *testing.T, name string) []record.RunReport {
	t.Helper()
	var all []record.RunReport
	stored := json.NewDecoder(strings.NewReader(on(t, name, "sh", "-c", "cat /var/lib/ssdprobe/runs/*.json 2>/dev/null || true")))
	for {
		var report struct{ Data record.RunReport }
		err := stored.Decode(&report)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, report.Data)
	}
}

// fleetCollector waits until the daemon's fleet collector has the wanted value: 1 if it can reach
// the API server, else 0.
func fleetCollector(t *testing.T, pod corev1.Pod, want float64) {
	t.Helper()
	eventually(t, fmt.Sprintf("the fleet collector of %s is %v", pod.Name, want), func() bool {
		value, ok := metric(t, pod, "ssdprobe_collector_success", `collector="fleet"`)
		return ok && value == want
	})
}
