// Package apiserver starts a real kube-apiserver with its etcd, for tests of its clients. It has no other part of
// Kubernetes: nodes and pods are objects that the tests create.
//
//	s := apiserver.Start(t)
//	s.Apply(manifests)
//	config := s.Config(s.PodToken("ssdprobe", "storage-1"))
package apiserver

import (
	"bytes"
	"context"
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
	patience = 3 * time.Minute // bounds waiting for what a test observes
	// Admin is the token of a user with all permissions.
	Admin = "admin-of-the-test"
	// Namespace is the namespace of ssdprobe.
	Namespace = "ssdprobe"
)

// Server is a kube-apiserver with its etcd, on ports of 127.0.0.1.
type Server struct {
	t *testing.T
	// Port is the port of 127.0.0.1 on which the server listens.
	Port string
	// Authority is the path of the certificate with which clients verify that of the server.
	Authority string
	client    *http.Client
	process   *os.Process
}

// Start starts the API server that scripts/build-kubernetes.sh builds.
func Start(t *testing.T) *Server {
	t.Helper()
	path := filepath.Join(strings.TrimSpace(Run(t, filepath.Join(root(t), "scripts", "build-kubernetes.sh"), "kube-apiserver")), "kube-apiserver")
	dir := t.TempDir()
	etcd, peers := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t)
	background(t, dir, "etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers)

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	keyFile := Write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	s := &Server{t: t, Port: freePort(t), Authority: filepath.Join(dir, "certificates", "apiserver.crt")}
	s.process = background(t, dir, path, "--etcd-servers="+etcd, "--bind-address=127.0.0.1", "--secure-port="+s.Port,
		"--cert-dir="+filepath.Dir(s.Authority), "--service-cluster-ip-range=10.96.0.0/24", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keyFile, "--service-account-signing-key-file="+keyFile, "--authorization-mode=RBAC",
		"--token-auth-file="+Write(t, dir, "tokens.csv", Admin+",admin,1,system:masters\n"),
		"--allow-privileged=true", "--endpoint-reconciler-type=none")
	s.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	Eventually(t, "the API server is ready", func() bool {
		pool := x509.NewCertPool()
		certificate, err := os.ReadFile(s.Authority)
		if err != nil || !pool.AppendCertsFromPEM(certificate) {
			return false
		}
		s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
		code, _ := s.Ask(Admin, http.MethodGet, "/readyz", nil)
		return code == http.StatusOK
	})
	return s
}

// Ask sends a request with a token. The code is 0 if there is no answer.
func (s *Server) Ask(token, method, path string, body []byte) (code int, answer string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "https://127.0.0.1:"+s.Port+path, bytes.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	}
	response, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(text)
}

// path returns the path at which objects of a kind are created.
func path(apiVersion, kind, namespace string) string {
	base := "/apis/" + apiVersion
	if apiVersion == "v1" {
		base = "/api/v1"
	}
	resource := strings.ToLower(kind) + "s"
	switch kind {
	case "NetworkPolicy", "ValidatingAdmissionPolicy":
		resource = strings.TrimSuffix(strings.ToLower(kind), "y") + "ies"
	case "PriorityClass":
		resource = "priorityclasses"
	}
	if namespace != "" {
		base += "/namespaces/" + namespace
	}
	return base + "/" + resource
}

// Apply creates the objects of manifests, except those of the Prometheus Operator. A field that the API server does
// not know is an error.
func (s *Server) Apply(manifests string) {
	s.t.Helper()
	for _, text := range regexp.MustCompile(`(?m)^---$`).Split(manifests, -1) {
		var kind metav1.PartialObjectMetadata
		require.NoError(s.t, yaml.Unmarshal([]byte(text), &kind))
		if kind.Kind == "" || strings.HasPrefix(kind.APIVersion, "monitoring.coreos.com/") {
			continue
		}
		object, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(s.t, err)
		code, answer := s.Ask(Admin, http.MethodPost, path(kind.APIVersion, kind.Kind, kind.Namespace)+"?fieldValidation=Strict", object)
		require.Equal(s.t, http.StatusCreated, code, "%s: %s", text, answer)
	}
}

// Token returns a token of a service account that is not bound to a pod.
func (s *Server) Token(account string) string {
	s.t.Helper()
	return s.token(account, ``)
}

// PodToken returns a token like the one that the kubelet mounts into a pod of an account on a node. The node must
// exist; PodToken creates the pod.
func (s *Server) PodToken(account, node string) string {
	s.t.Helper()
	code, answer := s.Ask(Admin, http.MethodPost, path("v1", "Pod", Namespace), fmt.Appendf(nil,
		`{"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "ssdprobe-"},
		"spec": {"serviceAccountName": %q, "nodeName": %q, "containers": [{"name": "ssdprobe", "image": "ssdprobe"}]}}`, account, node))
	require.Equal(s.t, http.StatusCreated, code, answer)
	var pod metav1.PartialObjectMetadata
	require.NoError(s.t, json.Unmarshal([]byte(answer), &pod))
	return s.token(account, fmt.Sprintf(`, "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": %q, "uid": %q}`, pod.Name, pod.UID))
}

// token returns a token that outlives every test, because nothing renews it as the kubelet does. By default it
// would expire after an hour.
func (s *Server) token(account, spec string) string {
	s.t.Helper()
	code, answer := s.Ask(Admin, http.MethodPost, path("v1", "ServiceAccount", Namespace)+"/"+account+"/token",
		[]byte(`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400`+spec+`}}`))
	require.Equal(s.t, http.StatusCreated, code, answer)
	var request struct{ Status struct{ Token string } }
	require.NoError(s.t, json.Unmarshal([]byte(answer), &request))
	return request.Status.Token
}

// Config returns a client configuration with a token.
func (s *Server) Config(token string) *rest.Config {
	return &rest.Config{Host: "https://127.0.0.1:" + s.Port, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAFile: s.Authority}}
}

// Kubeconfig returns the path of a kubeconfig file with the same settings.
func (s *Server) Kubeconfig(token string) string {
	return Write(s.t, s.t.TempDir(), "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, namespace: %s, user: test}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:%s", certificate-authority: %s}}]
users: [{name: test, user: {token: %s}}]
`, Namespace, s.Port, s.Authority, token))
}

// Signal stops the API server (SIGSTOP), which then neither answers nor refuses, or continues it (SIGCONT).
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.process.Signal(sig))
}

// background runs a program until the test ends. If the test fails, it shows the program's output.
func background(t *testing.T, dir, path string, args ...string) *os.Process {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, filepath.Base(path)+".log"))
	require.NoError(t, err)
	c := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()
		if t.Failed() {
			text, err := os.ReadFile(out.Name())
			t.Logf("the end of what %s wrote (%v):\n%s", path, err, text[max(0, len(text)-4000):])
		}
		require.NoError(t, out.Close())
	})
	return c.Process
}

// Run runs a program and returns its output.
func Run(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	require.NoError(t, err, "%s %v", name, args)
	return string(out)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// Write writes a file and returns its path.
func Write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Eventually polls until a condition holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, patience, 100*time.Millisecond, what, holds)
}

// root returns the root directory of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, "/", dir, "no go.mod above")
		dir = filepath.Dir(dir)
	}
}
