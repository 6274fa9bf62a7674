//go:build kubernetes

package nodestatus

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/test/apiserver"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// real is a real API server with nodes and the manifests that are shipped.
type real struct{ *apiserver.Server }

func TestCluster(t *testing.T) {
	s := real{apiserver.Start(t)}
	s.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ssdprobe}\n")
	s.addNode(t, "storage-1")
	admin, err := newClient(s.Config(apiserver.Admin))
	require.NoError(t, err)
	t.Run("keeps nodes as a shelf does", func(t *testing.T) { testCluster(t, admin) })
	for i := range 10 {
		if i != 1 {
			s.addNode(t, fmt.Sprintf("storage-%d", i))
		}
	}
	t.Run("says which right is missing", s.testMissingRight)
	s.Apply(manifests(t))
	t.Run("permits no more than is needed", s.testRights)
	t.Run("has the condition come and go", s.testCondition)
	t.Run("never has more taints than may be", s.testTaints)
	t.Run("is cleaned up", s.testCleanup)
	t.Run("is told by a daemon", s.testDaemon)
}

// manifests returns the manifests of docs/install-kubernetes.md for a cluster with node status, and taints on
// three nodes.
func manifests(t *testing.T) string {
	t.Helper()
	dir := testenv.OnDisk(t)
	apiserver.Write(t, dir, "kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ssdprobe
resources: [../../../deploy/kubernetes/files]
components: [../../../deploy/kubernetes/node-status, ../../../deploy/kubernetes/node-taint]
patches:
  - target: {kind: Role, name: ssdprobe-node-taint}
    patch: |
      - op: replace
        path: /rules/0/resourceNames
        value: [ssdprobe-slow-drive-0, ssdprobe-slow-drive-1, ssdprobe-slow-drive-2]
`)
	return apiserver.Run(t, strings.TrimSpace(apiserver.Run(t, filepath.Join("..", "..", "scripts", "build-tool.sh"), "kustomize")), "build", dir)
}

// addNode creates a Node as a kubelet does: ready, and for storage only.
func (s real) addNode(t *testing.T, name string) {
	t.Helper()
	s.Apply("apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {rack: a}}\n")
	s.must(t, http.MethodPatch, "/api/v1/nodes/"+name, `{"spec": {"taints": [{"key": "storage", "value": "only", "effect": "NoSchedule"}]}}`)
	s.must(t, http.MethodPatch, "/api/v1/nodes/"+name+"/status", `{"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-22T12:00:00Z"}]}}`)
}

// must sends a request as the administrator.
func (s real) must(t *testing.T, method, path, body string) string {
	t.Helper()
	code, answer := s.Ask(apiserver.Admin, method, path, []byte(body))
	require.Less(t, code, 300, "%s %s: %s", method, path, answer)
	return answer
}

// testMissingRight runs a daemon as in a pod without the component.
func (s real) testMissingRight(t *testing.T) {
	s.Apply("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: without, namespace: ssdprobe}\n")
	d := s.daemon(t, "without", "storage-0", nil)
	d.says(fine)
	d.tellNow()
	d.tellNow()
	assert.False(t, d.works())
	assert.Equal(t, 1, strings.Count(d.logged(), "\n"), d.logged())
	assert.Contains(t, d.logged(), `the service account of the pods lacks a permission; apply the manifests again`)
	assert.Contains(t, d.logged(), `User \"system:serviceaccount:ssdprobe:without\" cannot get resource \"nodes\" in API group \"\" at the cluster scope`)
}

func (s real) testRights(t *testing.T) {
	const own, other = "/api/v1/nodes/storage-1", "/api/v1/nodes/storage-2"
	const events = "/apis/events.k8s.io/v1/namespaces/"
	token := s.PodToken("ssdprobe", "storage-1")
	condition := func(kind string) string {
		return `{"status": {"conditions": [{"type": "` + kind + `", "status": "True", "reason": "r", "message": "m"}]}}`
	}
	taints := func(added string) string {
		return `{"spec": {"taints": [{"key": "storage", "value": "only", "effect": "NoSchedule"}` + added + `]}}`
	}
	event := func(namespace, kind, node string) string {
		return `{"metadata": {"generateName": "test-", "namespace": "` + namespace + `"}, "eventTime": "2026-11-22T12:00:00.000000Z", "reportingController": "ssdprobe",
			"reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal", "note": "n", "regarding": {"apiVersion": "v1", "kind": "` + kind + `", "name": "` + node + `", "namespace": "` + strings.TrimPrefix(namespace, "default") + `"}}`
	}
	const never = `, {"key": "ssdprobe/slow-drive", "effect": "NoExecute"}`
	eventually := func(what string, holds func() bool) { apiserver.Eventually(t, what, holds) }
	eventually("the policy is in force", func() bool {
		code, _ := s.Ask(token, http.MethodPatch, other+"/status", []byte(condition("SlowDrive")))
		return code == http.StatusUnprocessableEntity || code == http.StatusForbidden
	})
	for _, test := range []struct {
		method, path, body string
		refusal            string // empty if it is allowed
	}{
		{http.MethodGet, own, "", ""},
		{http.MethodGet, other, "", ""},
		{http.MethodPatch, own + "/status", condition("SlowDrive"), ""},
		{http.MethodPatch, own, taints(`, {"key": "ssdprobe/slow-drive", "effect": "NoSchedule"}`), ""},
		{http.MethodPatch, own, taints(`, {"key": "ssdprobe/slow-drive", "effect": "PreferNoSchedule"}`), ""},
		{http.MethodPatch, own, taints(""), ""},
		{http.MethodPatch, own + "/status", `{"status": {"conditions": [{"$patch": "delete", "type": "SlowDrive"}]}}`, ""},
		{http.MethodPost, events + "default/events", event("default", "Node", "storage-1"), ""},

		{http.MethodPatch, other + "/status", condition("SlowDrive"), "only change the node that its pod runs on"},
		{http.MethodPatch, other, taints(`, {"key": "ssdprobe/slow-drive", "effect": "NoSchedule"}`), "only change the node that its pod runs on"},
		{http.MethodPatch, own + "/status", condition("DiskPressure"), "only change the condition SlowDrive"},
		{http.MethodPatch, own + "/status", condition("Ready"), "only change the condition SlowDrive"},
		{http.MethodPatch, own + "/status", `{"status": {"conditions": null}}`, "only change the condition SlowDrive"},
		{http.MethodPatch, own + "/status", `{"status": {"capacity": {"cpu": "1"}}}`, "only change the condition SlowDrive"},
		{http.MethodPatch, own + "/status", `{"metadata": {"labels": {"rack": "b"}}}`, "not change the metadata"},
		{http.MethodPatch, own + "/status", `{"metadata": {"annotations": {"a": "b"}}}`, "not change the metadata"},
		{http.MethodPatch, own, `{"metadata": {"labels": {"rack": null}}}`, "not change the metadata"},
		{http.MethodPatch, own, `{"metadata": {"finalizers": ["a/b"]}}`, "not change the metadata"},
		{http.MethodPatch, own, `{"spec": {"unschedulable": true}}`, "only change the taint ssdprobe/slow-drive"},
		{http.MethodPatch, own, taints(`, {"key": "other", "effect": "NoSchedule"}`), "only change the taint ssdprobe/slow-drive"},
		{http.MethodPatch, own, `{"spec": {"taints": []}}`, "only change the taint ssdprobe/slow-drive"},
		{http.MethodPatch, own, taints(never), "only change the taint ssdprobe/slow-drive"},
		{http.MethodPost, events + "default/events", event("default", "Node", "storage-2"), "only create events about the node"},
		{http.MethodPost, events + "default/events", event("default", "Pod", "storage-1"), "only create events about the node"},
		{http.MethodPost, events + "ssdprobe/events", event("ssdprobe", "Pod", "a"), "only create events about the node"},

		{http.MethodDelete, own, "", "cannot delete resource"},
		{http.MethodGet, "/api/v1/nodes", "", "cannot list resource"},
		{http.MethodPost, "/api/v1/nodes", `{"metadata": {"name": "new"}}`, "cannot create resource"},
		{http.MethodPut, own, `{"metadata": {"name": "storage-1"}}`, "cannot update resource"},
		{http.MethodGet, "/api/v1/namespaces/ssdprobe/secrets", "", "cannot list resource"},
		{http.MethodGet, "/api/v1/namespaces/ssdprobe/pods", "", "cannot list resource"},
		{http.MethodGet, events + "default/events", "", "cannot list resource"},
		{http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/ssdprobe/leases/ssdprobe-run-0", "", "cannot get resource"},
		{http.MethodPatch, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/storage-1", "{}", "cannot patch resource"},
	} {
		code, answer := s.Ask(token, test.method, test.path, []byte(test.body))
		what := test.method + " " + test.path + " " + test.body
		if test.refusal == "" {
			assert.Less(t, code, 300, "%s: %s", what, answer)
			continue
		}
		assert.Contains(t, []int{http.StatusForbidden, http.StatusUnprocessableEntity}, code, "%s: %s", what, answer)
		assert.Contains(t, answer, test.refusal, what)
	}

	// A token that is not bound to a pod has no node of its own.
	code, answer := s.Ask(s.Token("ssdprobe"), http.MethodPatch, own+"/status", []byte(condition("SlowDrive")))
	assert.Contains(t, answer, "only change the node that its pod runs on")
	assert.Contains(t, []int{http.StatusForbidden, http.StatusUnprocessableEntity}, code)
	// Other clients are not affected.
	s.must(t, http.MethodPatch, other+"/status", condition("DiskPressure"))
}

// clustered is a daemon of a real cluster, which looks only when it is told to.
type clustered struct {
	*daemon
	*Reporter
}

func (c clustered) tellNow() {
	c.next = time.Time{}
	c.Reporter.tellNow(c.t.Context())
}

// daemon returns a daemon with the access to the cluster that a pod of an account on a node has.
func (s real) daemon(t *testing.T, account, name string, more func(*Options)) clustered {
	t.Helper()
	d := &daemon{t: t, node: name}
	kubeconfig := s.Kubeconfig(s.PodToken(account, name))
	r, err := Connect(d.options(func(o *Options) {
		o.Kubeconfig = kubeconfig
		if more != nil {
			more(o)
		}
	}))
	require.NoError(t, err)
	return clustered{d, r}
}

func (s real) look(t *testing.T, name string) node {
	t.Helper()
	admin, err := newClient(s.Config(apiserver.Admin))
	require.NoError(t, err)
	n, err := admin.node(t.Context(), name)
	require.NoError(t, err)
	return n
}

func (s real) testCondition(t *testing.T) {
	d := s.daemon(t, "ssdprobe", "storage-3", nil)
	d.says(fine, fine)
	d.tellNow()
	require.True(t, d.works(), d.logged())
	c := s.look(t, "storage-3").condition()
	require.NotNil(t, c)
	assert.Equal(t, "False NoSlowDrive healthy: 2 drives on storage-3", c.Status+" "+c.Reason+" "+c.Message)

	d.says(fine, severe)
	d.tellNow()
	c = s.look(t, "storage-3").condition()
	assert.Equal(t, "True DriveSevere", c.Status+" "+c.Reason)
	assert.Contains(t, c.Message, "severe: nvme1n1 is severe: 2.3 times slower (2.2 to 2.4) than before, since ")
	assert.Contains(t, s.must(t, http.MethodGet, "/apis/events.k8s.io/v1/namespaces/default/events", ""), `"note":"nvme1n1 is severe: 2.3 times slower`)
	assert.Empty(t, s.look(t, "storage-3").taint(), "it is not asked for")
	assert.Len(t, s.look(t, "storage-3").Status.Conditions, 2)

	// The API server stops answering, and then continues.
	s.Signal(syscall.SIGSTOP)
	d.says(fine, fine)
	d.tellNow()
	assert.False(t, d.works())
	s.Signal(syscall.SIGCONT)
	d.tellNow()
	assert.True(t, d.works(), d.logged())
	assert.Equal(t, isFalse, s.look(t, "storage-3").condition().Status)

	// The kubelet of the node is faster, which causes a conflict.
	n := s.look(t, "storage-3")
	s.must(t, http.MethodPatch, "/api/v1/nodes/storage-3/status", `{"status": {"conditions": [{"type": "Ready", "status": "False"}]}}`)
	_, err := d.setCondition(t.Context(), n, condition{Type: ConditionType, Status: isTrue, Reason: DriveDegraded, Message: "m"})
	require.NoError(t, err)
	n = s.look(t, "storage-3")
	for _, c := range n.Status.Conditions {
		assert.Equal(t, map[string]string{"Ready": isFalse, ConditionType: isTrue}[c.Type], c.Status, "what the kubelet wrote stays")
	}

	// Another daemon claims the node.
	other := s.daemon(t, "ssdprobe", "storage-3", nil)
	other.says(degraded)
	other.tellNow()
	d.tellNow()
	assert.True(t, other.works())
	assert.False(t, d.works())
	assert.Contains(t, d.logged(), "another program sets the condition SlowDrive of this node")

	d.Reporter.end(t.Context())
	assert.Equal(t, isTrue, s.look(t, "storage-3").condition().Status, "it is the other's")
	other.Reporter.end(t.Context())
	c = s.look(t, "storage-3").condition()
	assert.Equal(t, "Unknown DaemonStopped", c.Status+" "+c.Reason)
}

// Ten nodes want the taint, but only three may have it.
func (s real) testTaints(t *testing.T) {
	const most = 3
	var all []clustered
	for i := range 10 {
		c := s.daemon(t, "ssdprobe", fmt.Sprintf("storage-%d", i), func(o *Options) { o.Taint, o.MaxTaints = "PreferNoSchedule", most })
		c.says(severe)
		all = append(all, c)
	}
	tainted := func() (names []string) {
		for _, c := range all {
			if s.look(t, c.node).taint() != "" {
				names = append(names, c.node)
			}
		}
		return names
	}
	together := func(do func(clustered)) {
		done := make(chan struct{})
		for _, c := range all {
			go func() { defer func() { done <- struct{}{} }(); do(c) }()
		}
		for ended := 0; ended < len(all); {
			select {
			case <-done:
				ended++
			default:
				assert.LessOrEqual(t, len(tainted()), most)
			}
		}
		assert.LessOrEqual(t, len(tainted()), most)
	}
	for range 3 {
		together(clustered.tellNow)
	}
	first := tainted()
	assert.Len(t, first, most, "as many as may")
	for _, c := range all {
		assert.True(t, c.works(), c.logged())
	}

	// The verdict on one ends, another is killed, and the others still want the taint.
	for _, c := range all {
		if c.node == first[0] {
			c.says(fine)
		}
	}
	for range 3 {
		together(func(c clustered) {
			if c.node != first[1] {
				c.tellNow()
			}
		})
	}
	second := tainted()
	assert.Len(t, second, most)
	assert.NotContains(t, second, first[0])
	assert.Contains(t, second, first[1], "nobody took it off")
	assert.Len(t, s.look(t, second[0]).Spec.Taints, 2, "those of others are there still")

	for range 3 {
		together(func(c clustered) { c.Reporter.end(t.Context()) })
	}
	assert.Empty(t, tainted())
	for _, name := range fleet.Names(Lease, most) {
		assert.NotContains(t, s.must(t, http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/ssdprobe/leases/"+name, ""), "holderIdentity")
	}
}

func (s real) testCleanup(t *testing.T) {
	killed := s.daemon(t, "ssdprobe", "storage-4", func(o *Options) { o.Taint, o.MaxTaints = "NoSchedule", 1 })
	killed.says(severe)
	killed.tellNow()
	require.Equal(t, "NoSchedule", s.look(t, "storage-4").taint(), killed.logged())
	cleaner, err := NewCleaner(s.Kubeconfig(apiserver.Admin))
	require.NoError(t, err)
	cleaned, others, err := cleaner.CleanAll(t.Context())
	require.NoError(t, err)
	require.Len(t, cleaned, 10)
	assert.Equal(t, Cleaned{"storage-4", true, true}, cleaned[0], "the taint first")
	assert.Zero(t, others)
	for _, done := range cleaned {
		assert.Equal(t, done.Node == "storage-4", done.Taint, done)
		n := s.look(t, done.Node)
		assert.Nil(t, n.condition())
		assert.Empty(t, n.taint())
		assert.Len(t, n.Spec.Taints, 1)
	}
}

// run starts a real daemon with the access to the cluster that a pod of an account on storage-5 has. command
// runs a command next to it.
func (s real) run(t *testing.T, program, account string) (daemon *exec.Cmd, command func(args ...string) (out string, code int)) {
	t.Helper()
	dir := testenv.OnDisk(t)
	config := apiserver.Write(t, dir, "c.yaml", fmt.Sprintf(`
node: storage-5
state_dir: %[1]s/state
lock_dir: %[1]s/locks
listen: ["127.0.0.1:0"]
devices: {enabled: false}
io_latency: never
files: [{path: %[1]s, size: 16MiB}]
probes: [{name: read-4k, interval: 1s, ios: 16}]
kubernetes: {enabled: true, kubeconfig: %[2]s}
`, dir, s.Kubeconfig(s.PodToken(account, "storage-5"))))
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	daemon = exec.Command(program, "daemon", "--config", config)
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, daemon.Start())
	t.Cleanup(func() {
		_ = daemon.Process.Kill() // it may have ended
		_ = daemon.Wait()
		text, err := os.ReadFile(log.Name())
		assert.NoError(t, err)
		if t.Failed() {
			t.Logf("output of the daemon:\n%s", text)
		}
		assert.NoError(t, log.Close())
	})
	return daemon, func(args ...string) (string, int) {
		c := exec.Command(program, append(args, "--config", config)...)
		out, err := c.Output()
		if exit := new(exec.ExitError); !errors.As(err, &exit) {
			require.NoError(t, err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
}

// A daemon reports what check says. Failures to report affect neither of them.
func (s real) testDaemon(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ssdprobe")
	apiserver.Run(t, "go", "build", "-o", program, "../../cmd/ssdprobe")
	_, without := s.run(t, program, "without")
	apiserver.Eventually(t, "a daemon without rights says so", func() bool {
		out, _ := without("devices")
		return strings.Contains(out, "the last reading of kubernetes failed")
	})
	line, code := without("check")
	assert.Equal(t, 3, code)
	assert.Contains(t, line, "is unknown: the baseline is being learned")
	assert.Nil(t, s.look(t, "storage-5").condition())

	daemon, told := s.run(t, program, "ssdprobe")
	apiserver.Eventually(t, "the condition", func() bool { return s.look(t, "storage-5").condition() != nil })
	c := s.look(t, "storage-5").condition()
	assert.Equal(t, "Unknown NotJudged", c.Status+" "+c.Reason)
	line, _ = told("check")
	assert.Equal(t, line, c.Message+"\n")
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	require.NoError(t, daemon.Wait())
	assert.Equal(t, DaemonStopped, s.look(t, "storage-5").condition().Reason)

	out := apiserver.Run(t, program, "kubernetes", "cleanup", "--all-nodes", "--kubeconfig", s.Kubeconfig(apiserver.Admin))
	assert.Equal(t, "storage-5: removed the condition SlowDrive\n9 other nodes: nothing to remove\n", out)
	assert.Nil(t, s.look(t, "storage-5").condition())
}
