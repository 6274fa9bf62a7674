//go:build kubernetes

package clustertest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const driveBytes = 37 << 20 // no other loop device has this size

// upgraded is the beginning of the document's commands that change an installation and keep its values.
const upgraded = "helm upgrade ssdprobe deploy/helm/ssdprobe --namespace ssdprobe --reset-then-reuse-values"

// impatient is a configuration with short intervals, for a busy machine. It watches the drive.
const impatient = `discovery_interval: 1s
admission: {max_cpu_wait: 1, max_io_pressure: 1, max_utilisation: 1, max_in_flight: 1000}
drift: {baseline_rounds: 10}
probes: [{name: read-4k, interval: 1s, ios: 1024, timeout: 10s}]
`

// watchDrive makes the daemon watch drives of that size.
var watchDrive = fmt.Sprintf("devices: {include: [{name: loop*, min_size: %d, max_size: %d}]}\n", driveBytes, driveBytes)

// values writes a file of values with a configuration.
func values(t *testing.T, configuration string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	text := "config:\n  " + strings.ReplaceAll(strings.TrimSpace(configuration), "\n", "\n  ") + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// install runs the documented command, and uninstalls the release at the end if it is still there.
func install(t *testing.T, more string) (notes string) {
	t.Helper()
	t.Cleanup(func() {
		out, errs, err := try(bash("helm uninstall ssdprobe --namespace ssdprobe --ignore-not-found --wait --timeout 3m"))
		assert.NoError(t, err, out+errs)
	})
	return sh(t, command(t, "helm install ssdprobe")+more)
}

func upgrade(t *testing.T, more string) {
	t.Helper()
	sh(t, strings.Replace(command(t, "helm install ssdprobe"), "helm install", "helm upgrade", 1)+more)
}

// testHelm follows docs/install-kubernetes.md as a user does, on a cluster without the Prometheus Operator.
func testHelm(t *testing.T) {
	drive := testenv.LoopDevice(t, driveBytes, testenv.Options{Random: true})
	device := filepath.Base(drive.Path)
	filesystems := map[string]testenv.Loop{}
	for _, name := range nodes {
		filesystems[name] = testenv.LoopDevice(t, 300<<20, testenv.Options{})
		run(t, exec.CommandContext(t.Context(), "mkfs.ext4", "-q", filesystems[name].Path))
		t.Cleanup(func() { _, _, _ = try(bash("scripts/kubernetes-node.sh on " + name + " umount /srv/data")) })
	}
	makeNamespace(t, "privileged")

	notes := install(t, "")
	assert.Contains(t, notes, "PodMonitor: this cluster does not know its kind, as it has no Prometheus Operator.")
	assert.Contains(t, notes, "PrometheusRule: this cluster does not know its kind")
	assert.Contains(t, notes, "Then http://localhost:10040/ shows the drives of one node.\nCheck it: "+command(t, "helm test ssdprobe")+"\n")
	assert.Contains(t, notes, "No pods? The namespace refuses privileged ones:\n  "+command(t, "kubectl label --overwrite namespace ssdprobe")+"\n")
	first := rolledOut(t)
	for _, pod := range first {
		text, err := fetch(pod, "/metrics")
		require.NoError(t, err)
		assert.Contains(t, text, `ssdprobe_build_info{`)
	}
	portForward(t)

	given := impatient + watchDrive
	upgrade(t, " --values "+values(t, given))
	all := rolledOut(t)
	for name, pod := range all {
		require.NotEqual(t, first[name].Name, pod.Name, "a new configuration is a rollout")
		measures(t, pod, device, 3)
	}
	scraped(t, all)
	assert.Regexp(t, `Phase: +Succeeded`, sh(t, command(t, "helm test ssdprobe")))
	assert.Contains(t, execIn(t, all[nodes[0]], "/usr/bin/ssdprobe", "run", "--target="+drive.Path, "--rounds=1", "--even-if-busy", "--verbose"),
		" on "+nodes[0]+"\n", "the node's name, not the pod's")

	t.Run("an upgrade keeps the baseline", func(t *testing.T) {
		learned := func(pod corev1.Pod) (at float64) {
			eventually(t, pod.Name+" has a baseline", func() (ok bool) {
				at, ok = metric(t, pod, "ssdprobe_baseline_learned_timestamp_seconds", `device="`+device+`"`)
				return ok
			})
			return at
		}
		before := map[string]float64{}
		for name, pod := range all {
			before[name] = learned(pod)
		}
		documented := command(t, upgraded+" --set image.tag=NEW")
		sh(t, strings.Replace(documented, "NEW", "0.1.0", 1)+" --set config.rounds_at_once=3") // to the same image
		replaced := rolledOut(t)
		for name, pod := range replaced {
			require.NotEqual(t, all[name].Name, pod.Name)
			assert.InDelta(t, before[name], learned(pod), 0, "learned once")
			measures(t, pod, device, 3)
		}
		all = replaced
	})
	t.Run("a pod is deleted while it probes", func(t *testing.T) { testDeleted(t, all[nodes[0]], drive, nil) })
	t.Run("a pod is deleted while fio runs", func(t *testing.T) {
		pod := rolledOut(t)[nodes[0]]
		testDeleted(t, pod, drive, kubectlCommand(t, "--namespace", namespace, "exec", pod.Name, "--", "/usr/bin/ssdprobe", "run", "quick",
			"--config", "/etc/ssdprobe/ssdprobe.yaml", "--target", drive.Path, "--even-if-busy"))
	})
	t.Run("Ctrl-C ends a run", func(t *testing.T) { testInterrupted(t, rolledOut(t)[nodes[0]], drive) })
	t.Run("a node is drained", func(t *testing.T) {
		pod := rolledOut(t)[nodes[0]]
		kubectl(t, "drain", nodes[0], "--ignore-daemonsets", "--timeout=2m")
		defer kubectl(t, "uncordon", nodes[0])
		measures(t, pod, device, 3)
		assert.Equal(t, pod.Name, pods(t)[nodes[0]].Name)
	})
	t.Run("a filesystem of the nodes", func(t *testing.T) {
		sh(t, command(t, upgraded+" \\\n      --set 'config.files[0].path=/srv/data'"))
		eventually(t, "a pod waits for the directory", func() bool {
			return strings.Contains(events(t, "Pod"), "hostPath type check failed: /srv/data is not a directory")
		})
		for _, name := range nodes {
			assert.NotContains(t, on(t, name, "ls", "/srv"), "data", "none was made")
			// Mount it together with its filesystem: a pod does not see what is mounted below it later.
			on(t, name, "sh", "-euc", "mkdir -p /run/srv/data; mount "+filesystems[name].Path+" /run/srv/data; mount --rbind /run/srv /srv")
		}
		for name, pod := range rolledOut(t) {
			measures(t, pod, filepath.Base(filesystems[name].Path), 2)
			measures(t, pod, device, 2)
		}
	})
	// This must not come before a change of the configuration: a kubelet that lost the API server mounts the old
	// ConfigMap into new pods until it watches the server again.
	t.Run("the API server dies", func(t *testing.T) {
		all := rolledOut(t)
		node(t, "stop", "apiserver")
		defer node(t, "start")
		for _, pod := range all {
			measures(t, pod, device, 5)
		}
	})
	t.Run("removed", testRemoved)
}

// testDeleted deletes a pod while the daemon probes or, with a command, during a run of fio. Nothing of the pod remains,
// and the next pod measures and can run.
func testDeleted(t *testing.T, pod corev1.Pod, drive testenv.Loop, command *exec.Cmd) {
	busy := func(pid int, _ string) bool { // a device is open for one round at a time
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		require.NoError(t, err)
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && to == drive.Path {
				return true
			}
		}
		return false
	}
	ended := make(chan error, 1)
	if command == nil {
		ended <- fmt.Errorf("no command")
	} else {
		busy = func(_ int, line string) bool {
			return strings.Contains(line, "/usr/bin/fio") || strings.HasPrefix(line, "fio ")
		}
		go func() {
			_, _, err := try(command)
			ended <- err
		}()
	}
	eventually(t, "it is at work", func() bool {
		for pid, line := range processes(t, pod) {
			if busy(pid, line) {
				return true
			}
		}
		return false
	})
	kubectl(t, "--namespace", namespace, "delete", "pod", pod.Name, "--wait=false")
	require.Error(t, <-ended)
	deleted(t, pod)

	next := rolledOut(t)[pod.Spec.NodeName]
	require.NotEqual(t, pod.Name, next.Name)
	measures(t, next, filepath.Base(drive.Path), 2)
	// The lock is free, and no incomplete file is left.
	out := execIn(t, next, "/usr/bin/ssdprobe", "run", "quick", "--config", "/etc/ssdprobe/ssdprobe.yaml", "--target", drive.Path, "--set=time=1s", "--even-if-busy")
	assert.Contains(t, out, "random-read-qd32")
	for path := range strings.Lines(on(t, pod.Spec.NodeName, "find", "/var/lib/ssdprobe", "/run/ssdprobe", "-type", "f")) {
		assert.Regexp(t, `(\.json|\.lock|\.log|/lock)\n$`, path)
	}
}

// testInterrupted runs the suite in a terminal, as the document says, and presses Ctrl-C.
func testInterrupted(t *testing.T, pod corev1.Pod, drive testenv.Loop) {
	t.Helper()
	documented := strings.NewReplacer("PODNAME", pod.Name, "/dev/nvme0n1", drive.Path).Replace(command(t, "kubectl --namespace ssdprobe exec -it"))
	c := exec.CommandContext(t.Context(), "script", "--quiet", "--return", "--command", documented+" --even-if-busy", "/dev/null")
	c.Env = environment
	keys, err := c.StdinPipe()
	require.NoError(t, err)
	ended := make(chan string, 1)
	go func() {
		out, errs, _ := try(c) // the exit code is that of a stopped run
		ended <- out + errs
	}()
	running := func() bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(processes(t, pod))), func(line string) bool {
			return strings.HasPrefix(line, "/usr/bin/ssdprobe run") || isFio(line)
		})
	}
	eventually(t, "fio runs", func() bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(processes(t, pod))), isFio)
	})
	_, err = keys.Write([]byte{3})
	require.NoError(t, err)
	assert.Contains(t, <-ended, "Stopped in step 1 of 3: interrupt signal received.")
	eventually(t, "nothing of the run is left", func() bool { return !running() })
	measures(t, pod, filepath.Base(drive.Path), 2)
}

// isFio reports whether a command line is that of fio.
func isFio(line string) bool {
	return strings.Contains(line, "/usr/bin/fio") || strings.HasPrefix(line, "fio ")
}

// scraped makes a Prometheus scrape the pods, as the document says for clusters without the operator. Debian's Prometheus
// has no Kubernetes discovery, so its results are written into the configuration.
func scraped(t *testing.T, all map[string]corev1.Pod) {
	t.Helper()
	const discovery = "kubernetes_sd_configs:\n      - role: pod\n"
	config := block(t, "scrape_configs:")
	require.Contains(t, config, discovery)
	found := "static_configs:\n"
	for name, pod := range all {
		for _, port := range []string{"http", "other"} {
			found += fmt.Sprintf("      - {targets: [\"%s:10040\"], labels: {__meta_kubernetes_pod_container_name: ssdprobe, "+
				"__meta_kubernetes_pod_container_port_name: %s, __meta_kubernetes_pod_node_name: %s}}\n", pod.Status.PodIP, port, name)
		}
	}
	server := promtest.Start(t, "global: {scrape_interval: 1s}\n"+strings.Replace(config, discovery, found, 1))
	eventually(t, "Prometheus has both nodes", func() bool {
		series, err := server.TryQuery(t, time.Now(), `ssdprobe_build_info and on (instance) up == 1`)
		var names []string
		for _, s := range series {
			names = append(names, s.Metric["instance"])
		}
		return err == nil && len(names) == 2 && assert.ElementsMatch(t, nodes, names)
	})
}

// portForward fetches the status page as the document says.
func portForward(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, "bash", "-c", "exec "+command(t, "kubectl --namespace ssdprobe port-forward"))
	c.Env = environment
	require.NoError(t, c.Start())
	defer func() {
		stop()
		_ = c.Wait() // it was killed
	}()
	eventually(t, "the status page is at localhost:10040", func() bool {
		answer, err := http.Get("http://localhost:10040/")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// testRemoved removes everything as the document says, including the remains on the nodes.
func testRemoved(t *testing.T) {
	for _, name := range nodes {
		assert.NotEmpty(t, on(t, name, "ls", "/var/lib/ssdprobe"))
		assert.NotEmpty(t, on(t, name, "ls", "/run/ssdprobe"))
	}
	sh(t, command(t, "helm uninstall ssdprobe"))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "remove.yaml"), []byte(block(t, "apiVersion: apps/v1")), 0o600))
	for _, begin := range []string{"kubectl --namespace ssdprobe apply -f remove.yaml", "kubectl --namespace ssdprobe rollout status daemonset/ssdprobe-remove", "kubectl --namespace ssdprobe delete -f remove.yaml"} {
		c := exec.CommandContext(t.Context(), "bash", "-euc", command(t, begin))
		c.Dir = dir
		run(t, c)
	}
	for _, name := range nodes {
		assert.NotContains(t, on(t, name, "ls", "/var/lib"), "ssdprobe\n")
		assert.NotContains(t, on(t, name, "ls", "/run"), "ssdprobe\n")
	}
	sh(t, command(t, "kubectl delete namespace ssdprobe"))
}
