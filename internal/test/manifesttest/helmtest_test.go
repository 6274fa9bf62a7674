package manifesttest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// testHooks returns the objects that `helm test` creates for the release ssdprobe.
func testHooks(t *testing.T, args ...string) objects {
	t.Helper()
	return testHooksOf(t, "ssdprobe", args...)
}

func testHooksOf(t *testing.T, release string, args ...string) objects {
	t.Helper()
	args = template(append(args, "--show-only", "templates/tests/pod.yaml", "--show-only", "templates/tests/access.yaml")...)
	args[slices.Index(args, "ssdprobe")] = release
	all := parse(t, run(t, tool(t, "helm"), slices.DeleteFunc(args, func(arg string) bool { return arg == "--skip-tests" })...))
	for name, object := range all {
		assert.Equal(t, "test", object.GetAnnotations()["helm.sh/hook"], "%s stays when the test is over", name)
		assert.NotEmpty(t, object.GetAnnotations()["helm.sh/hook-delete-policy"], name)
	}
	return all
}

func (o objects) testPod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pod, ok := o["*v1.Pod "+name].(*corev1.Pod)
	require.True(t, ok, "no Pod in %v", o)
	return pod
}

// The pod meets the restricted pod security standard, in both modes.
func TestHelmTestNeedsNoPrivilege(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		all := testHooks(t, "--set", "mode="+mode+",probes.scheme=HTTPS")
		pod := all.testPod(t, "test-ssdprobe").Spec
		assert.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC || *pod.AutomountServiceAccountToken)
		assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
		assert.True(t, *pod.SecurityContext.RunAsNonRoot)
		require.Len(t, pod.Containers, 2)
		yes, no := true, false
		for _, container := range pod.Containers {
			assert.Equal(t, &corev1.SecurityContext{
				Privileged: &no, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}, container.SecurityContext)
		}
		for _, volume := range pod.Volumes {
			assert.NotNil(t, volume.ConfigMap, volume.Name)
		}
	}
}

// The DaemonSet does not adopt the pod, and the policy gives it access.
func TestHelmTestReachesThePods(t *testing.T) {
	t.Parallel()
	set := helm(t).daemonSet(t)
	for release, name := range map[string]string{"ssdprobe": "test-ssdprobe", "1st.one": "test-1st-one"} {
		all := testHooksOf(t, release, "--set", "nodeSelector.storage=fast")
		pod := all.testPod(t, name)
		assert.NotEqual(t, set.Spec.Selector.MatchLabels["app.kubernetes.io/name"], pod.Labels["app.kubernetes.io/name"])
		assert.Equal(t, "fast", pod.Spec.NodeSelector["storage"], "where the image is")

		service, ok := all["*v1.Service "+name].(*corev1.Service)
		require.True(t, ok)
		assert.Equal(t, map[string]string{"app.kubernetes.io/name": "ssdprobe", "app.kubernetes.io/instance": release}, service.Spec.Selector)
		assert.Equal(t, int32(10040), service.Spec.Ports[0].Port)
		assert.Equal(t, set.Spec.Template.Spec.Containers[0].Ports[0].Name, service.Spec.Ports[0].TargetPort.String())
		// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
		variable := strings.ToUpper(strings.ReplaceAll(service.Name, "-", "_")) + "_SERVICE_HOST"
		assert.Contains(t, pod.Spec.Containers[1].Args, "--url=http://$("+variable+"):10040")
		assert.True(t, *pod.Spec.EnableServiceLinks)

		policy, ok := all["*v1.NetworkPolicy "+name].(*networkingv1.NetworkPolicy)
		require.True(t, ok)
		assert.Equal(t, service.Spec.Selector, policy.Spec.PodSelector.MatchLabels)
		assert.Equal(t, pod.Labels, policy.Spec.Ingress[0].From[0].PodSelector.MatchLabels)
	}
	assert.NotContains(t, testHooks(t, "--set", "networkPolicy.enabled=false"), "*v1.NetworkPolicy test-ssdprobe")
}

// The program accepts the arguments of the pod, and answers with its exit code.
func TestHelmTestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	answer := http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/-/ready", r.URL.Path)
		w.WriteHeader(answer)
		fmt.Fprintln(w, "the answer")
	}))
	defer server.Close()
	ask := func(configuration string, container int) (string, error) {
		dir, args := t.TempDir(), []string{"--set", "probes.scheme=HTTPS", "--values", values(t, configuration)}
		file, ok := helm(t, args...)["*v1.ConfigMap ssdprobe"].(*corev1.ConfigMap)
		require.True(t, ok)
		write(t, filepath.Join(dir, "ssdprobe", "ssdprobe.yaml"), file.Data["ssdprobe.yaml"], 0o644)
		hooks := testHooks(t, args...)
		file, ok = hooks["*v1.ConfigMap test-ssdprobe"].(*corev1.ConfigMap)
		require.True(t, ok)
		write(t, filepath.Join(dir, "ssdprobe-test", "client.yml"), file.Data["client.yml"], 0o644)
		here := strings.NewReplacer("/etc/", dir+"/", "https://$(TEST_SSDPROBE_SERVICE_HOST):10040", server.URL, "--wait=1m", "--wait=0s")
		var given []string
		for _, arg := range hooks.testPod(t, "test-ssdprobe").Spec.Containers[container].Args {
			given = append(given, here.Replace(arg))
		}
		stdout, stderr, err := try(t, program(t), given...)
		return stdout + stderr, err
	}
	for _, container := range []int{0, 1} {
		out, err := ask("drift: {window: 10m}", container)
		require.NoError(t, err, out)
	}
	// Each key is valid by itself.
	out, err := ask("probes: [{name: a, queue_depth: 64, ios: 32}]", 0)
	require.Error(t, err)
	assert.Contains(t, out, `probes[0].queue_depth: "64" is above ios; want at most 32`)
	answer = http.StatusServiceUnavailable
	out, err = ask("drift: {window: 10m}", 1)
	require.Error(t, err)
	assert.Contains(t, out, "is not ready: the answer")
}
