//go:build kubernetes

package storytest_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/apiserver"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// halfIOPS is what is left of usualIOPS.
const halfIOPS = usualIOPS / 2

// TestStoryOfANode: one of four drives, with applications on them, gets half as fast. An alert, a condition, an event and a
// taint of the node, check and fleet say so, and all of it ends when it is fast again.
func TestStoryOfANode(t *testing.T) {
	cluster := apiserver.Start(t)
	cluster.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ssdprobe}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node + "}\n")
	cluster.Apply(manifests(t))
	program := filepath.Join(t.TempDir(), "ssdprobe")
	apiserver.Run(t, "go", "build", "-o", program, "../../../cmd/ssdprobe")
	m := bootFour(t, cluster)
	inbox := inbox{promtest.NewInbox(t)}
	p := monitor(t, m, inbox)
	condition := func() string {
		_, answer := cluster.Ask(apiserver.Admin, http.MethodGet, "/api/v1/nodes/"+node, nil)
		for _, reason := range []string{"NoSlowDrive", "DriveDegraded", "DriveSevere", "NotJudged", "DaemonStopped"} {
			if strings.Contains(answer, `"reason":"`+reason+`"`) {
				return reason
			}
		}
		return ""
	}
	tainted := func() bool {
		_, answer := cluster.Ask(apiserver.Admin, http.MethodGet, "/api/v1/nodes/"+node, nil)
		return strings.Contains(answer, `"key":"ssdprobe/slow-drive"`)
	}
	checks := func() (line string, code int) {
		result, err := m.Run(bounded(t), "ssdprobe", "check", "--config", configurationPath)
		require.NoError(t, err)
		return result.Stdout, result.ExitCode
	}
	await(t, "enough written blocks of the drives", func() bool {
		return len(p.now(t, `ssdprobe_device_pool_blocks unless on (id) ssdprobe_finding{code="pool_small"}`)) == 4
	})
	m.learnAnew(t, p, m.use(t)...)
	await(t, "four drives that are healthy", func() bool { return condition() == "NoSlowDrive" })
	line, code := checks()
	assert.Equal(t, 0, code, line)

	begun := time.Now()
	tell := func(what string) { t.Logf("%5.1f s after the change: %s", time.Since(begun).Seconds(), what) }
	m.limit(t, m.worn, halfIOPS)
	await(t, "the condition", func() bool { return condition() == "DriveDegraded" || condition() == "DriveSevere" })
	tell("the condition is " + condition())
	await(t, "an alert", func() bool { _, found := inbox.slower(); return found })
	tell("the alert has arrived")
	await(t, "check says that it is severe", func() bool { line, code = checks(); return code == 2 })
	tell(fmt.Sprintf("check ends with %d: %s", code, strings.TrimSpace(line)))
	assert.Contains(t, line, m.worn.name+" is severe: ")
	await(t, "the taint", tainted)
	tell("the node has the taint")
	_, events := cluster.Ask(apiserver.Admin, http.MethodGet, "/apis/events.k8s.io/v1/namespaces/default/events", nil)
	assert.Contains(t, events, `"note":"`+m.worn.name+` is `)
	first := fleet(t, program, p)
	assert.Contains(t, first, m.worn.name, "the fleet lists it first")
	tell("fleet: " + first)

	begun = time.Now()
	m.limit(t, m.worn, usualIOPS)
	await(t, "the end of the condition", func() bool { return condition() == "NoSlowDrive" })
	tell("the condition has ended")
	await(t, "the end of the taint", func() bool { return !tainted() })
	await(t, "the end of all alerts", func() bool { return !inbox.open() })
	tell("the alert is resolved")
	await(t, "check is content", func() bool { line, code = checks(); return code == 0 })
	_, events = cluster.Ask(apiserver.Admin, http.MethodGet, "/apis/events.k8s.io/v1/namespaces/default/events", nil)
	assert.Contains(t, events, `"reason":"DriveRecovered"`)
	inbox.onlyAbout(t, m.worn)
}

// manifests are those of docs/install-kubernetes.md for a cluster that is told.
func manifests(t *testing.T) string {
	t.Helper()
	dir := testenv.OnDisk(t)
	apiserver.Write(t, dir, "kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ssdprobe
resources: [../../../../deploy/kubernetes/raw-devices]
components: [../../../../deploy/kubernetes/node-status, ../../../../deploy/kubernetes/node-taint]
`)
	return apiserver.Run(t, strings.TrimSpace(apiserver.Run(t, "../../../scripts/build-tool.sh", "kustomize")), "build", dir)
}

// bootFour starts a machine with four drives, which applications use, and a daemon that has what its pod would.
func bootFour(t *testing.T, cluster *apiserver.Server) *machine {
	t.Helper()
	port, err := strconv.Atoi(cluster.Port)
	require.NoError(t, err)
	o := lab.Options{ReachPorts: []int{port}}
	for i := range uint64(4) {
		o.Drives = append(o.Drives, lab.Drive{ID: fmt.Sprintf("drive%d", i), SizeBytes: 16 << 20, WrittenRatio: 1, EUI64: 0x5254000000000001 + i})
	}
	m := boot(t, o)
	m.worn, m.sound = m.find(t, "drive2"), m.find(t, "drive0")
	_, err = m.StartProcess(bounded(t), "sh", "-c", fly)
	require.NoError(t, err)

	authority, err := os.ReadFile(cluster.Authority)
	require.NoError(t, err)
	require.NoError(t, m.WriteFile(bounded(t), "/etc/apiserver.crt", authority, 0o644))
	kubeconfig, err := os.ReadFile(cluster.Kubeconfig(cluster.PodToken("ssdprobe", node)))
	require.NoError(t, err)
	text := strings.NewReplacer(
		`server: "https://127.0.0.1:`, `tls-server-name: 127.0.0.1, server: "https://`+lab.HostAddress+":", cluster.Authority, "/etc/apiserver.crt",
	).Replace(string(kubeconfig))
	require.NoError(t, m.WriteFile(bounded(t), "/etc/kubeconfig", []byte(text), 0o644))
	m.startDaemon(t, configuration+"kubernetes: {enabled: true, kubeconfig: /etc/kubeconfig, taint: PreferNoSchedule}\n")
	return m
}

// use has applications read from all drives, which are as fast as usual from now on.
func (m *machine) use(t *testing.T) (drives []drive) {
	t.Helper()
	for i := range 4 {
		d := m.find(t, fmt.Sprintf("drive%d", i))
		m.limit(t, d, usualIOPS)
		_, err := m.StartProcess(bounded(t), "fio", "--name=application", "--filename=/dev/"+d.name, "--rw=randread", "--bs=4k", "--direct=1", "--rate_iops=2", "--time_based", "--runtime=1h")
		require.NoError(t, err)
		drives = append(drives, d)
	}
	return drives
}

// fleet is the first drive that `ssdprobe fleet` lists.
func fleet(t *testing.T, program string, p prometheus) string {
	t.Helper()
	var first string
	await(t, "the fleet", func() bool {
		out, err := exec.Command(program, "fleet", "--prometheus", p.URL, "--output", "csv").Output()
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) < 2 {
			return false
		}
		first = lines[1]
		return first != ""
	})
	return first
}
