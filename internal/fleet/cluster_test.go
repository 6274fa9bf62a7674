//go:build kubernetes

package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/apiserver"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// server is a real API server.
type server struct{ *apiserver.Server }

// TestCluster uses a real API server, the manifests that are shipped, and daemons that run as in pods. It
// verifies what the tests with a shelf assume.
func TestCluster(t *testing.T) {
	s := server{apiserver.Start(t)}
	s.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ssdprobe}\n")
	s.Apply(manifests(t))
	t.Run("keeps leases as a shelf does", func(t *testing.T) {
		s.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shelf}\n")
		c, err := newClient(s.Config(apiserver.Admin), "shelf")
		require.NoError(t, err)
		testLeases(t, c)
	})
	t.Run("permits no more than is needed", s.testRole)
	t.Run("is found by a kubeconfig", s.testKubeconfig)
	t.Run("has its nodes take turns", s.testNodes)
}

// manifests returns the manifests of docs/install-kubernetes.md for a fleet.
func manifests(t *testing.T) string {
	t.Helper()
	dir := testenv.OnDisk(t)
	apiserver.Write(t, dir, "kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ssdprobe
resources: [../../../deploy/kubernetes/raw-devices]
components: [../../../deploy/kubernetes/fleet]
`)
	return apiserver.Run(t, strings.TrimSpace(apiserver.Run(t, "../../scripts/build-tool.sh", "kustomize")), "build", dir)
}

func (s server) testRole(t *testing.T) {
	token := s.Token("ssdprobe")
	const leases = "/apis/coordination.k8s.io/v1/namespaces/ssdprobe/leases"
	lease := func(name string) []byte {
		return fmt.Appendf(nil, `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": %q}}`, name)
	}
	code, answer := s.Ask(token, http.MethodPost, leases, lease("ssdprobe-run-0"))
	require.Equal(t, http.StatusCreated, code, answer)
	for _, test := range []struct {
		method, path string
		body         []byte
		code         int
	}{
		{http.MethodGet, leases + "/ssdprobe-run-0", nil, http.StatusOK},
		{http.MethodPut, leases + "/ssdprobe-run-0", []byte(answer), http.StatusOK},
		{http.MethodGet, leases, nil, http.StatusForbidden},
		{http.MethodDelete, leases + "/ssdprobe-run-0", nil, http.StatusForbidden},
		{http.MethodGet, leases + "/ssdprobe-run-1", nil, http.StatusForbidden},
		{http.MethodPut, leases + "/ssdprobe-run-1", lease("ssdprobe-run-1"), http.StatusForbidden},
		{http.MethodPost, strings.Replace(leases, "ssdprobe", "default", 1), lease("ssdprobe-run-0"), http.StatusForbidden},
		{http.MethodGet, "/api/v1/namespaces/ssdprobe/secrets", nil, http.StatusForbidden},
		{http.MethodGet, "/api/v1/namespaces/ssdprobe/pods", nil, http.StatusForbidden},
		{http.MethodGet, "/api/v1/nodes", nil, http.StatusForbidden},
	} {
		code, answer := s.Ask(token, test.method, test.path, test.body)
		assert.Equal(t, test.code, code, "%s %s: %s", test.method, test.path, answer)
	}
	code, answer = s.Ask(apiserver.Admin, http.MethodDelete, leases+"/ssdprobe-run-0", nil)
	require.Equal(t, http.StatusOK, code, answer)
}

func (s server) testKubeconfig(t *testing.T) {
	o := Options{Permits: 1, Lease: "ssdprobe-run", Kubeconfig: s.Kubeconfig(s.Token("ssdprobe")), Duration: time.Minute, Node: "outside"}
	f, err := Connect(o)
	require.NoError(t, err)
	require.NoError(t, f.Check(t.Context()))
	p, err := f.Try(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Renew(t.Context()))
	other, err := Connect(o)
	require.NoError(t, err)
	_, err = other.Try(t.Context())
	require.EqualError(t, err, "all leases are taken: outside")
	require.NoError(t, p.Release(t.Context()))

	o.Permits = 2 // the role allows one
	f, err = Connect(o)
	require.NoError(t, err)
	err = f.Check(t.Context())
	require.ErrorContains(t, err, `cannot get resource "leases"`)
	require.ErrorContains(t, err, `"ssdprobe-run-1" is forbidden`)
}

// pod is a daemon with the access to the cluster that a pod of the DaemonSet has.
type pod struct {
	t     *testing.T
	name  string
	state string
	url   string
	cmd   *exec.Cmd
}

// start starts the daemon of a node.
func (s server) start(t *testing.T, program, name, state, files string) *pod {
	t.Helper()
	dir := t.TempDir()
	apiserver.Write(t, dir, "token", s.Token("ssdprobe"))
	apiserver.Write(t, dir, "namespace", apiserver.Namespace)
	authority, err := os.ReadFile(s.Authority)
	require.NoError(t, err)
	apiserver.Write(t, dir, "ca.crt", string(authority))
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)

	// The kubelet mounts files at a fixed path, so each daemon has its own /run.
	const inPod = `mount -t tmpfs tmpfs /run && mkdir -p /run/secrets/kubernetes.io && cp -r "$0" /run/secrets/kubernetes.io/serviceaccount && exec "$@"`
	c := exec.Command("unshare", "--mount", "--propagation=private", "sh", "-c", inPod, dir,
		program, "daemon", "--node="+name, "--state-dir="+state, "--web.listen-address=127.0.0.1:0",
		"--config="+apiserver.Write(t, t.TempDir(), "c.yaml", fmt.Sprintf(`
devices: {enabled: false}
discovery_interval: 1s
files: [{path: %s, size: 16MiB}]
admission: {max_io_pressure: 1, max_cpu_wait: 1, max_utilisation: 1, max_in_flight: 1000}
probes: [{name: read-4k, interval: 1s, ios: 16}]
runs: [{suite: quick, schedule: "* * * * *", set: [time=6s], window: 1h, max_cpu_pressure: 1, max_others: 1}]
fleet: {enabled: true, lease_duration: 10s}
`, files)))
	c.Env = append(os.Environ(), "KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT="+s.Port, "GORACE=halt_on_error=1")
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.Start())
	p := &pod{t: t, name: name, state: state, cmd: c}
	t.Cleanup(func() {
		p.kill()
		text, err := os.ReadFile(out.Name())
		assert.NoError(t, err)
		assert.NotContains(t, string(text), "DATA RACE")
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, text)
		}
		assert.NoError(t, out.Close())
	})
	apiserver.Eventually(t, name+" listens", func() bool {
		text, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(text), "status    ")
		p.url = strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0])
		return found
	})
	return p
}

// kill ends the daemon as the loss of a node would.
func (p *pod) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// get returns what the daemon answers for a path.
func (p *pod) get(path string) []byte {
	p.t.Helper()
	answer, err := http.Get(p.url + path)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	return text
}

// seen is what a daemon reports about its runs and its probe.
type seen struct {
	record.RunStatus
	rounds uint64
}

func (p *pod) look() seen {
	p.t.Helper()
	var answer struct{ Targets []record.TargetStatus }
	require.NoError(p.t, json.Unmarshal(p.get("api/v1/devices"), &answer))
	var s seen
	if len(answer.Targets) == 1 {
		if runs := answer.Targets[0].Runs; len(runs) == 1 {
			s.RunStatus = runs[0]
		}
		for _, probe := range answer.Targets[0].Probes {
			s.rounds += probe.Rounds[record.OutcomeOK]
		}
	}
	return s
}

func (p *pod) runs() bool { return !p.look().Since.IsZero() }

// lost reports whether the daemon says that it cannot reach the API server.
func (p *pod) lost() bool {
	for line := range strings.Lines(string(p.get("metrics"))) {
		if strings.HasPrefix(line, "ssdprobe_collector_success{collector=\"fleet\"") {
			return strings.HasSuffix(line, " 0\n")
		}
	}
	return false
}

// reports returns the runs that a node has stored.
func (p *pod) reports() []record.RunReport {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.state, "runs", "*.json"))
	require.NoError(p.t, err)
	var all []record.RunReport
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(p.t, err)
		var stored struct{ Data record.RunReport }
		require.NoError(p.t, json.Unmarshal(text, &stored))
		all = append(all, stored.Data)
	}
	require.NotEmpty(p.t, all)
	return all
}

func (s server) testNodes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ssdprobe")
	apiserver.Run(t, "go", "build", "-race", "-o", program, "../../cmd/ssdprobe")
	states, files := []string{testenv.OnDisk(t), testenv.OnDisk(t)}, []string{testenv.OnDisk(t), testenv.OnDisk(t)}
	pods := make([]*pod, 2)
	for i := range pods {
		pods[i] = s.start(t, program, fmt.Sprintf("storage-%d", i), states[i], files[i])
	}
	// running waits until a node runs, and returns its index, the node and the other one.
	running := func(t *testing.T) (at int, runs, other *pod) {
		t.Helper()
		apiserver.Eventually(t, "a node runs", func() bool {
			for i, p := range pods {
				if p.runs() {
					at, runs, other = i, p, pods[1-i]
					return true
				}
			}
			return false
		})
		return at, runs, other
	}

	t.Run("one after the other", func(t *testing.T) {
		waited := false
		apiserver.Eventually(t, "both have run", func() bool {
			first, second := pods[0].look(), pods[1].look()
			for i, s := range []seen{first, second} {
				waited = waited || s.Waits == "no lease to run now: all leases are taken: storage-"+fmt.Sprint(1-i)
			}
			return first.Outcomes[record.RunOK] > 0 && second.Outcomes[record.RunOK] > 0
		})
		assert.True(t, waited, "one waited for the other, and said so")
		for _, a := range pods[0].reports() {
			for _, b := range pods[1].reports() {
				assert.True(t, a.Finished.Before(b.Started) || b.Finished.Before(a.Started), "%s to %s, and %s to %s", a.Started, a.Finished, b.Started, b.Finished)
			}
		}
	})
	t.Run("a killed node", func(sub *testing.T) {
		at, runs, other := running(sub)
		runs.kill()
		apiserver.Eventually(sub, "the other runs", other.runs)
		pods[at] = s.start(t, program, runs.name, states[at], files[at])
	})
	t.Run("a lost API server", func(t *testing.T) {
		_, runs, _ := running(t)
		before := runs.look().Outcomes[record.RunShort]
		s.Signal(syscall.SIGSTOP)
		defer s.Signal(syscall.SIGCONT)
		apiserver.Eventually(t, "who runs tells that the permit cannot be renewed", runs.lost)
		assert.True(t, runs.runs(), "before the permit is lost")
		apiserver.Eventually(t, "the run ends", func() bool { return runs.look().Outcomes[record.RunShort] > before })
		assert.Contains(t, runs.look().Problem, "the lease to run is lost: not renewed since ")
		for _, p := range pods {
			apiserver.Eventually(t, p.name+" cannot begin the run that is due", func() bool {
				return strings.HasPrefix(p.look().Waits, "no lease to run now: get lease ssdprobe-run-0: ")
			})
			assert.True(t, p.lost())
			assert.False(t, p.runs())
			rounds := p.look().rounds
			apiserver.Eventually(t, "the probes go on", func() bool { return p.look().rounds >= rounds+3 })
		}
	})
	t.Run("an API server that is back", func(t *testing.T) {
		_, runs, _ := running(t)
		before := runs.look().Outcomes[record.RunOK]
		apiserver.Eventually(t, "the run is complete", func() bool { return runs.look().Outcomes[record.RunOK] > before })
		apiserver.Eventually(t, "the API server can be asked", func() bool { return !runs.lost() })
	})
	t.Run("a stop gives the lease back", func(t *testing.T) {
		_, runs, _ := running(t)
		require.NoError(t, runs.cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, runs.cmd.Wait())
		c, err := newClient(s.Config(apiserver.Admin), apiserver.Namespace)
		require.NoError(t, err)
		lease, err := c.Get(context.Background(), "ssdprobe-run-0")
		require.NoError(t, err)
		assert.NotContains(t, named(lease), runs.name)
	})
}
