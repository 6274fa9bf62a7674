//go:build kubernetes

package fleet

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	patience   = 3 * time.Minute // bounds waiting for what a test observes
	adminToken = "admin-of-the-test"
	namespace  = "ssdprobe"
)

// apiServer is a kube-apiserver with its etcd, on ports of 127.0.0.1.
type apiServer struct {
	t         *testing.T
	port      string
	authority string // path of the certificate that its own is checked by
	client    *http.Client
	process   *os.Process
}

// startAPIServer starts the API server that scripts/build-kubernetes.sh builds.
func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	path := filepath.Join(strings.TrimSpace(run(t, "../../scripts/build-kubernetes.sh", "kube-apiserver")), "kube-apiserver")
	dir := t.TempDir()
	etcd, peers := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t)
	background(t, dir, "etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers)

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	keyFile := write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	s := &apiServer{t: t, port: freePort(t), authority: filepath.Join(dir, "certificates", "apiserver.crt")}
	s.process = background(t, dir, path, "--etcd-servers="+etcd, "--bind-address=127.0.0.1", "--secure-port="+s.port,
		"--cert-dir="+filepath.Dir(s.authority), "--service-cluster-ip-range=10.96.0.0/24", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keyFile, "--service-account-signing-key-file="+keyFile, "--authorization-mode=RBAC",
		"--token-auth-file="+write(t, dir, "tokens.csv", adminToken+",admin,1,system:masters\n"),
		"--allow-privileged=true", "--endpoint-reconciler-type=none")
	s.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	eventually(t, "the API server is ready", func() bool {
		pool := x509.NewCertPool()
		certificate, err := os.ReadFile(s.authority)
		if err != nil || !pool.AppendCertsFromPEM(certificate) {
			return false
		}
		s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
		code, _ := s.ask(adminToken, http.MethodGet, "/readyz", nil)
		return code == http.StatusOK
	})
	return s
}

// ask sends a request as whoever has the token. No answer is code 0.
func (s *apiServer) ask(token, method, path string, body []byte) (code int, answer string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "https://127.0.0.1:"+s.port+path, bytes.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(text)
}

// path is where objects of a kind are made.
func (s *apiServer) path(kind string) (path string, ok bool) {
	path, ok = map[string]string{
		"Namespace": "/api/v1/namespaces", "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
		"ServiceAccount": "/api/v1/namespaces/ssdprobe/serviceaccounts", "ConfigMap": "/api/v1/namespaces/ssdprobe/configmaps",
		"DaemonSet":     "/apis/apps/v1/namespaces/ssdprobe/daemonsets",
		"NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/ssdprobe/networkpolicies",
		"Role":          "/apis/rbac.authorization.k8s.io/v1/namespaces/ssdprobe/roles",
		"RoleBinding":   "/apis/rbac.authorization.k8s.io/v1/namespaces/ssdprobe/rolebindings",
	}[kind]
	return path, ok
}

// apply makes the objects of manifests, all but those of the Prometheus Operator. A
// field that the API server does not know is an error.
func (s *apiServer) apply(manifests string) {
	s.t.Helper()
	for _, text := range regexp.MustCompile(`(?m)^---$`).Split(manifests, -1) {
		var kind metav1.TypeMeta
		require.NoError(s.t, yaml.Unmarshal([]byte(text), &kind))
		if strings.HasPrefix(kind.APIVersion, "monitoring.coreos.com/") {
			continue
		}
		path, ok := s.path(kind.Kind)
		require.True(s.t, ok, kind.Kind)
		object, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(s.t, err)
		code, answer := s.ask(adminToken, http.MethodPost, path+"?fieldValidation=Strict", object)
		require.Equal(s.t, http.StatusCreated, code, "%s: %s", text, answer)
	}
}

// podToken returns a token such as the kubelet mounts into a pod.
func (s *apiServer) podToken() string {
	s.t.Helper()
	code, answer := s.ask(adminToken, http.MethodPost, "/api/v1/namespaces/ssdprobe/serviceaccounts/ssdprobe/token",
		[]byte(`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}`))
	require.Equal(s.t, http.StatusCreated, code, answer)
	var request struct{ Status struct{ Token string } }
	require.NoError(s.t, json.Unmarshal([]byte(answer), &request))
	return request.Status.Token
}

// config is how the API server is reached with a token.
func (s *apiServer) config(token string) *rest.Config {
	return &rest.Config{Host: "https://127.0.0.1:" + s.port, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAFile: s.authority}}
}

// kubeconfig returns the path of a file that says the same.
func (s *apiServer) kubeconfig(token string) string {
	return write(s.t, s.t.TempDir(), "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, namespace: %s, user: test}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:%s", certificate-authority: %s}}]
users: [{name: test, user: {token: %s}}]
`, namespace, s.port, s.authority, token))
}

// signal stops the API server (SIGSTOP), which then neither answers nor refuses, or
// has it go on (SIGCONT).
func (s *apiServer) signal(sig syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.process.Signal(sig))
}

// background runs a program until the test ends, and shows what it wrote when that failed.
func background(t *testing.T, dir, path string, args ...string) *os.Process {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, filepath.Base(path)+".log"))
	require.NoError(t, err)
	c := exec.Command(path, args...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
		if t.Failed() {
			text, err := os.ReadFile(out.Name())
			t.Logf("the end of what %s wrote (%v):\n%s", path, err, text[max(0, len(text)-4000):])
		}
		require.NoError(t, out.Close())
	})
	return c.Process
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	require.NoError(t, err, "%s %v", name, args)
	return string(out)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// eventually polls what can only be asked for.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, patience, 100*time.Millisecond, what, holds)
}
