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

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/apiserver"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// clusterNode is a machine with four drives that applications use, and a daemon with the access
// that its pod would have.
type clusterNode struct {
	*machine
	cluster *apiserver.Server
	drives  []drive
}

// tellKubernetes is the part of the configuration that lets the daemon report its findings to Kubernetes.
const tellKubernetes = "kubernetes: {enabled: true, kubeconfig: /etc/kubeconfig, taint: PreferNoSchedule}\n"

// startCluster starts an API server with the objects that docs/install-kubernetes.md creates for
// reporting, and with the node.
func startCluster(t *testing.T) *apiserver.Server {
	t.Helper()
	cluster := apiserver.Start(t)
	cluster.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ssdprobe}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node + "}\n")
	dir := testenv.OnDisk(t)
	apiserver.Write(t, dir, "kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ssdprobe
resources: [../../../../deploy/kubernetes/raw-devices]
components: [../../../../deploy/kubernetes/node-status, ../../../../deploy/kubernetes/node-taint]
`)
	cluster.Apply(apiserver.Run(t, strings.TrimSpace(apiserver.Run(t, "../../../scripts/build-tool.sh", "kustomize")), "build", dir))
	return cluster
}

// bootNode starts the machine, without its daemon.
func bootNode(t *testing.T, cluster *apiserver.Server) *clusterNode {
	t.Helper()
	port, err := strconv.Atoi(cluster.Port)
	require.NoError(t, err)
	o := lab.Options{ReachPorts: []int{port}}
	for i := range uint64(4) {
		o.Drives = append(o.Drives, lab.Drive{ID: fmt.Sprintf("drive%d", i), SizeBytes: 16 << 20, WrittenRatio: 1, EUI64: 0x5254000000000001 + i})
	}
	n := &clusterNode{machine: boot(t, o), cluster: cluster}
	for _, d := range o.Drives {
		n.drives = append(n.drives, n.find(t, d.ID))
	}
	n.worn, n.sound = n.drives[2], n.drives[0]

	authority, err := os.ReadFile(cluster.Authority)
	require.NoError(t, err)
	require.NoError(t, n.WriteFile(bounded(t), "/etc/apiserver.crt", authority, 0o644))
	kubeconfig, err := os.ReadFile(cluster.Kubeconfig(cluster.PodToken("ssdprobe", node)))
	require.NoError(t, err)
	text := strings.NewReplacer(
		`server: "https://127.0.0.1:`, `tls-server-name: 127.0.0.1, server: "https://`+lab.HostAddress+":", cluster.Authority, "/etc/apiserver.crt",
	).Replace(string(kubeconfig))
	require.NoError(t, n.WriteFile(bounded(t), "/etc/kubeconfig", []byte(text), 0o644))
	return n
}

// begin starts the daemon with a clock that is set forward by flight, and applications on the
// drives, and waits for the baselines.
func (n *clusterNode) begin(t *testing.T, flight int, configuration string) (prometheus, inbox) {
	t.Helper()
	n.fly(t, flight)
	n.startDaemon(t, configuration+tellKubernetes)
	to := inbox{promtest.NewInbox(t)}
	p := monitor(t, n.machine, to)
	await(t, "enough written blocks of the drives", func() bool {
		return len(p.now(t, `ssdprobe_device_pool_blocks unless on (id) ssdprobe_finding{code="pool_small"}`)) == len(n.drives)
	})
	for _, d := range n.drives {
		n.limit(t, d, usualIOPS)
	}
	n.use(t, "--rate_iops=2")
	n.learnAnew(t, p, n.drives...)
	return p, to
}

// told returns the reason in the node's condition SlowDrive in Kubernetes, or "" if there is none.
func (n *clusterNode) told() (reason string) {
	object := n.object()
	for _, reason := range []string{"NoSlowDrive", "DriveDegraded", "DriveSevere", "NotJudged", "DaemonStopped"} {
		if strings.Contains(object, `"reason":"`+reason+`"`) {
			return reason
		}
	}
	return ""
}

func (n *clusterNode) tainted() bool {
	return strings.Contains(n.object(), `"key":"ssdprobe/slow-drive"`)
}

func (n *clusterNode) object() string {
	_, answer := n.cluster.Ask(apiserver.Admin, http.MethodGet, "/api/v1/nodes/"+node, nil)
	return answer
}

// events returns the events of the node, in JSON.
func (n *clusterNode) events() string {
	_, answer := n.cluster.Ask(apiserver.Admin, http.MethodGet, "/apis/events.k8s.io/v1/namespaces/default/events", nil)
	return answer
}

// check returns the result of `ssdprobe check` on the node.
func (n *clusterNode) check(t *testing.T) (line string, code int) {
	t.Helper()
	result, err := n.Run(bounded(t), "ssdprobe", "check", "--config", configurationPath)
	require.NoError(t, err)
	return strings.TrimSpace(result.Stdout), result.ExitCode
}

// use makes applications read from all drives, with additional arguments of fio.
func (n *clusterNode) use(t *testing.T, arguments ...string) {
	t.Helper()
	for _, d := range n.drives {
		_, err := n.StartProcess(bounded(t), append([]string{"fio", "--name=application", "--filename=/dev/" + d.name, "--readonly",
			"--rw=randread", "--bs=4k", "--direct=1", "--time_based", "--runtime=1000d"}, arguments...)...)
		require.NoError(t, err)
	}
}

// program builds ssdprobe for this host.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssdprobe")
	apiserver.Run(t, "go", "build", "-o", path, "../../../cmd/ssdprobe")
	return path
}

// fleet returns the output of `ssdprobe fleet`; "" while Prometheus has no data yet.
func fleet(program string, p prometheus, output string) string {
	out, err := exec.Command(program, "fleet", "--prometheus", p.URL, "--output", output).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// listedFirst returns the first drive that `ssdprobe fleet` lists.
func listedFirst(program string, p prometheus) string {
	_, drives, _ := strings.Cut(fleet(program, p, "csv"), "\n")
	first, _, _ := strings.Cut(drives, "\n")
	return first
}
