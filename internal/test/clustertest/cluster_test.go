//go:build kubernetes

package clustertest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/imagetest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	patience  = 4 * time.Minute // bounds waiting for what a test observes
	namespace = "ssdprobe"
	image     = "registry.example/ssdprobe:0.1.0" // as in the document
)

// nodes are the nodes of scripts/kubernetes-node.sh.
var nodes = []string{"storage-1", "storage-2"}

// root is the root of the repository.
var root = filepath.Join("..", "..", "..")

// TestCluster runs all parts on one cluster, one after the other. Each leaves the cluster as it found it.
func TestCluster(t *testing.T) {
	testenv.Root(t)
	up(t)
	t.Run("image", giveImages)
	t.Run("helm", testHelm)
	t.Run("pod security", testPodSecurity)
	t.Run("files", testFiles)
	t.Run("fleet", testFleet)
	t.Run("node status", testNodeStatus)
	t.Run("operator", testOperator)
}

// node runs scripts/kubernetes-node.sh.
func node(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "kubernetes-node.sh"), args...))
}

// on runs a command in the mount namespace of a node.
func on(t *testing.T, name string, args ...string) string {
	t.Helper()
	return node(t, append([]string{"on", name}, args...)...)
}

// environment is the environment for kubectl and helm: the test's own, with additions.
var environment []string

// up requires a running cluster.
func up(t *testing.T) {
	t.Helper()
	environment = append(os.Environ(), strings.Split(strings.TrimSpace(node(t, "env")), "\n")...)
	_, errs, err := try(exec.CommandContext(t.Context(), "bash", "-c", "kubectl get --raw /readyz"))
	require.NoErrorf(t, err, "no cluster runs: make test-kubernetes starts one, or scripts/kubernetes-node.sh up:\n%s", errs)
}

// sh runs commands of the document at the top of the repository, as the document says.
func sh(t *testing.T, commands string) string {
	t.Helper()
	return run(t, shell(t, commands))
}

func shell(t *testing.T, commands string) *exec.Cmd {
	return exec.CommandContext(t.Context(), "bash", "-euc", commands)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, kubectlCommand(t, args...))
}

func kubectlCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), "bash", append([]string{"-c", `exec kubectl "$@"`, "kubectl"}, args...)...)
}

// apply applies objects.
func apply(t *testing.T, manifest string) {
	t.Helper()
	c := kubectlCommand(t, "apply", "-f", "-")
	c.Stdin = strings.NewReader(manifest)
	run(t, c)
}

// get reads an object, or a list of objects.
func get[T any](t *testing.T, args ...string) T {
	t.Helper()
	var object T
	require.NoError(t, json.Unmarshal([]byte(kubectl(t, append([]string{"get", "-o", "json"}, args...)...)), &object))
	return object
}

func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, errs, err := try(c)
	require.NoErrorf(t, err, "%v:\n%s%s", c.Args, out, errs)
	return out
}

func try(c *exec.Cmd) (out, errs string, err error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if c.Env == nil {
		c.Env = environment
	}
	if c.Dir == "" && filepath.Base(c.Path) == "bash" {
		c.Dir = root
	}
	err = c.Run()
	return stdout.String(), stderr.String(), err
}

// eventually polls until a condition holds, and logs the situation if it does not.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, patience, 500*time.Millisecond, what, holds)
}

// giveImages imports the images that the document makes the nodes pull.
func giveImages(t *testing.T) {
	images := imagetest.Build(t, imagetest.Options{Arch: runtime.GOARCH, Version: "v0.1.0", Cached: true})
	node(t, "image", image, images.Stages[images.Last], "/usr/bin/ssdprobe")

	// The image that removes the remains on the nodes.
	busybox := t.TempDir()
	path, err := exec.LookPath("busybox")
	require.NoError(t, err, "scripts/install.sh busybox-static")
	require.NoError(t, os.MkdirAll(filepath.Join(busybox, "bin"), 0o755))
	run(t, exec.CommandContext(t.Context(), "cp", path, filepath.Join(busybox, "bin", "busybox")))
	for _, name := range []string{"sh", "rm", "sleep"} {
		require.NoError(t, os.Symlink("busybox", filepath.Join(busybox, "bin", name)))
	}
	node(t, "image", "docker.io/library/busybox:1.37", busybox, "/bin/sh")
}

// makeNamespace creates the namespace of the document, and removes it at the end.
func makeNamespace(t *testing.T, level string) {
	t.Helper()
	sh(t, command(t, "kubectl create namespace ssdprobe"))
	t.Cleanup(func() {
		out, errs, err := try(bash("kubectl delete namespace ssdprobe --ignore-not-found --timeout 120s"))
		assert.NoError(t, err, out+errs)
	})
	label := command(t, "kubectl label --overwrite namespace ssdprobe pod-security")
	sh(t, strings.Replace(label, "enforce=privileged", "enforce="+level, 1))
	// Its service account appears a moment later, and pods before that are refused.
	eventually(t, "the namespace's account", func() bool {
		return strings.Contains(kubectl(t, "--namespace", namespace, "get", "serviceaccounts", "-o", "name"), "default")
	})
}

// bash returns a command that outlives the test's context, for clean-ups and for examining failures.
func bash(commands string) *exec.Cmd { return exec.Command("bash", "-c", commands) }
