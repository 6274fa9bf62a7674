//go:build kubernetes

package clustertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// pods returns the pods of the DaemonSet by node, without those that are being deleted.
func pods(t *testing.T) map[string]corev1.Pod {
	t.Helper()
	all := map[string]corev1.Pod{}
	list := get[corev1.PodList](t, "--namespace", namespace, "pods", "-l", "app.kubernetes.io/name=ssdprobe")
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			all[pod.Spec.NodeName] = pod
		}
	}
	return all
}

func ready(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// rolledOut waits for the DaemonSet as the document says, and returns its pods: one on each node, ready.
func rolledOut(t *testing.T) map[string]corev1.Pod {
	t.Helper()
	out, errs, err := try(kubectlCommand(t, append(strings.Fields(command(t, "kubectl --namespace ssdprobe rollout status daemonset/ssdprobe"))[1:], "--timeout=4m")...))
	require.NoErrorf(t, err, "%s%s\n%s", out, errs, situation())
	all := pods(t)
	require.Len(t, all, len(nodes), situation())
	for _, name := range nodes {
		require.True(t, ready(all[name]), name)
	}
	return all
}

// situation returns what a user would look at.
func situation() string {
	out, errs, _ := try(bash("kubectl --namespace ssdprobe get pods -o wide; kubectl --namespace ssdprobe get events --sort-by .lastTimestamp | tail -20; kubectl --namespace ssdprobe logs daemonset/ssdprobe --tail 20"))
	return out + errs
}

// fetch asks the daemon of a pod, at the pod's address and the port named http.
func fetch(pod corev1.Pod, path string) (string, error) {
	for _, port := range pod.Spec.Containers[0].Ports {
		if port.Name != "http" {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d%s", pod.Status.PodIP, port.ContainerPort, path), http.NoBody)
		if err != nil {
			return "", err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
	return "", fmt.Errorf("pod %s has no port called http", pod.Name)
}

// metric returns the value of the only series whose line contains all labels; ok is false if there is none.
func metric(t *testing.T, pod corev1.Pod, name string, labels ...string) (value float64, ok bool) {
	t.Helper()
	text, err := fetch(pod, "/metrics")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(text) {
		series, number, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(series, name+"{") || slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(series, l) }) {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		require.NoError(t, err, line)
		return value, true
	}
	return 0, false
}

// measures waits until the given number of further rounds on a device were good.
func measures(t *testing.T, pod corev1.Pod, device string, more float64) {
	t.Helper()
	rounds := func() float64 {
		value, _ := metric(t, pod, "ssdprobe_probe_rounds_total", `device="`+device+`"`, `outcome="ok"`)
		return value
	}
	before := rounds()
	eventually(t, fmt.Sprintf("%v more good rounds on %s in %s", more, device, pod.Name), func() bool { return rounds() >= before+more })
}

// execIn runs a command in a pod.
func execIn(t *testing.T, pod corev1.Pod, args ...string) string {
	t.Helper()
	return kubectl(t, append([]string{"--namespace", namespace, "exec", pod.Name, "--"}, args...)...)
}

// processes returns the command lines of the processes in a pod, by process id. The name of the
// pod's cgroup contains the pod's UID.
func processes(t *testing.T, pod corev1.Pod) map[int]string {
	t.Helper()
	found := map[int]string{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		group, err := os.ReadFile(filepath.Join(dir, "cgroup"))
		if err != nil || !strings.Contains(string(group), string(pod.UID)) {
			continue // it has ended, or belongs to another pod
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(line) == 0 {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		require.NoError(t, err)
		found[pid] = strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
	}
	return found
}

// deleted waits until nothing of a pod is left: neither it nor any of its processes.
func deleted(t *testing.T, pod corev1.Pod) {
	t.Helper()
	eventually(t, "nothing of "+pod.Name+" is left", func() bool {
		names := kubectl(t, "--namespace", namespace, "get", "pods", "-o", "name")
		return !strings.Contains(names, pod.Name) && len(processes(t, pod)) == 0
	})
}

// events returns the messages of the events about a kind of object.
func events(t *testing.T, kind string) string {
	t.Helper()
	return kubectl(t, "--namespace", namespace, "get", "events", "--field-selector", "involvedObject.kind="+kind, "-o", `jsonpath={range .items[*]}{.message}{"\n"}{end}`)
}

// status returns a line of the daemon's /proc/PID/status.
func status(t *testing.T, pod corev1.Pod, key string) string {
	t.Helper()
	for pid, line := range processes(t, pod) {
		if !strings.HasPrefix(line, "/usr/bin/ssdprobe daemon") {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		match := regexp.MustCompile(`(?m)^` + key + `:\s*(.*)$`).FindStringSubmatch(string(text))
		require.NotNil(t, match)
		return strings.Join(strings.Fields(match[1]), " ")
	}
	assert.Fail(t, "no daemon in "+pod.Name)
	return ""
}
