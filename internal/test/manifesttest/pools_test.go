package manifesttest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// The values of ci/ are two releases in one namespace, each for a pool of nodes. They share no object.
func TestTwoReleasesWorkSideBySide(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(at("deploy", "helm", "ssdprobe", "ci", "*-values.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	seen := map[string]string{}
	var sets []*appsv1.DaemonSet
	var selectors []labels.Selector // of each release
	for _, file := range files {
		arguments := template("--values", file)
		arguments[1] = "release-of-" + filepath.Base(file)[:5]
		for name, object := range parse(t, run(t, tool(t, "helm"), arguments...)) {
			assert.Emptyf(t, seen[name], "%s is in both releases", name)
			seen[name] = file
			if set, ok := object.(*appsv1.DaemonSet); ok {
				selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
				require.NoError(t, err)
				sets, selectors = append(sets, set), append(selectors, selector)
			}
		}
	}
	require.Len(t, sets, 2)
	assert.NotEqual(t, sets[0].Spec.Template.Spec.NodeSelector, sets[1].Spec.Template.Spec.NodeSelector)
	for i, selector := range selectors {
		assert.True(t, selector.Matches(labels.Set(sets[i].Spec.Template.Labels)))
		assert.False(t, selector.Matches(labels.Set(sets[1-i].Spec.Template.Labels)), "it would take over the pods of the other release")
	}
}

func TestChartTakesWhatPeopleAddToPods(t *testing.T) {
	t.Parallel()
	all := helm(t, "--values", at("deploy", "helm", "ssdprobe", "ci", "raw-devices-values.yaml"))
	set, ok := all["*v1.DaemonSet ssdprobe-fast"].(*appsv1.DaemonSet)
	require.True(t, ok)
	pod := set.Spec.Template
	assert.Equal(t, "storage", pod.Labels["team"])
	assert.NotContains(t, set.Spec.Selector.MatchLabels, "team", "a selector cannot be changed later")
	assert.Equal(t, "storage", pod.Annotations["example.com/owner"])
	assert.NotEmpty(t, pod.Annotations["checksum/config"])
	assert.Contains(t, pod.Spec.Containers[0].Env, corev1.EnvVar{Name: "GOMEMLIMIT", Value: "300MiB"})
	assert.Regexp(t, `^ssdprobe:0\.1\.0@sha256:0{64}$`, pod.Spec.Containers[0].Image)
	assert.Equal(t, "ssdprobe-fast", pod.Spec.PriorityClassName)
	assert.Equal(t, "ssdprobe-fast", pod.Spec.ServiceAccountName)
	for values, want := range map[string]string{
		"podLabels.app\\.kubernetes\\.io/name=x": "podLabels: app.kubernetes.io/name: leave it out",
		"podAnnotations.checksum/config=x":       "podAnnotations: checksum/config: leave it out",
		"extraEnv[0].name=SSDPROBE_CONFIG":       "extraEnv: SSDPROBE_CONFIG: leave it out",
		"extraEnv[0].name=SSDPROBE_NODE":         "extraEnv: SSDPROBE_NODE: leave it out",
		"image.digest=latest":                    `'/image/digest': 'latest' does not match pattern`,
		"fullnameOverride=A_B":                   `'/fullnameOverride': 'A_B' does not match pattern`,
	} {
		_, stderr, err := try(t, tool(t, "helm"), template("--set", values)...)
		require.Error(t, err, values)
		assert.Contains(t, stderr, want)
	}
}

// Policies of a cluster may demand labels of every pod. Without them, no Job could take the taints off after an uninstall.
func TestEveryPodHasTheLabelsThatPeopleAdd(t *testing.T) {
	t.Parallel()
	more := []string{"--set", "config.kubernetes.enabled=true,podLabels.team=storage,podAnnotations.example\\.com/owner=me"}
	job, ok := helm(t, more...)["*v1.Job ssdprobe-cleanup"].(*batchv1.Job)
	require.True(t, ok)
	test := testHooks(t, more...).testPod(t, "test-ssdprobe")
	for _, pod := range []metav1.Object{&job.Spec.Template, test} {
		assert.Equal(t, "storage", pod.GetLabels()["team"])
		assert.Equal(t, "me", pod.GetAnnotations()["example.com/owner"])
	}
	assert.Equal(t, "ssdprobe-cleanup", job.Spec.Template.Labels["app.kubernetes.io/name"])
	assert.Equal(t, "1", test.Annotations["helm.sh/hook-weight"])
}

// Nodes without a kernel of their own run no pods of a DaemonSet: one there would be Pending for ever.
func TestNoPodsForNodesThatAreNone(t *testing.T) {
	terms := kustomize(t, "raw-devices").daemonSet(t).Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	require.Len(t, terms, 1)
	selector := labels.NewSelector()
	for _, e := range terms[0].MatchExpressions {
		r, err := labels.NewRequirement(e.Key, selection.Operator(strings.ToLower(string(e.Operator))), e.Values)
		require.NoError(t, err)
		selector = selector.Add(*r)
	}
	for key, value := range map[string]string{"eks.amazonaws.com/compute-type": "fargate", "type": "virtual-kubelet", "ssdprobe/watch": "false"} {
		node := labels.Set{"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
		assert.True(t, selector.Matches(node))
		node[key] = value
		assert.False(t, selector.Matches(node), key)
	}
}

// Nor would the rollout of the DaemonSet that removes the remains ever be complete. It goes to all others that ssdprobe may have been on.
func TestTheRemovalGoesWherePodsRun(t *testing.T) {
	t.Parallel()
	removal, _ := block(t, "apiVersion: apps/v1")
	set, ok := decode(t, removal).(*appsv1.DaemonSet)
	require.True(t, ok)
	terms := func(set *appsv1.DaemonSet) []corev1.NodeSelectorRequirement {
		require.NotNil(t, set.Spec.Template.Spec.Affinity)
		all := set.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		require.Len(t, all, 1)
		return all[0].MatchExpressions
	}
	want := slices.DeleteFunc(terms(kustomize(t, "raw-devices").daemonSet(t)), func(e corev1.NodeSelectorRequirement) bool { return e.Key == "ssdprobe/watch" })
	assert.Equal(t, want, terms(set))
}

// With an overridden name, the objects of the test have it too, and no object has the name of the release.
func TestChartNamesAllObjectsByTheOverride(t *testing.T) {
	t.Parallel()
	overrides := []string{"--set", "fullnameOverride=fast.pool", "--set", "nameOverride=probe"}
	for name := range helm(t, overrides...) {
		assert.Contains(t, name, "fast.pool")
	}
	hooks := testHooks(t, overrides...)
	service, ok := hooks["*v1.Service test-fast-pool"].(*corev1.Service)
	require.True(t, ok)
	assert.Equal(t, "probe", service.Spec.Selector["app.kubernetes.io/name"])
	assert.Contains(t, hooks.testPod(t, "test-fast-pool").Spec.Containers[1].Args[1], "TEST_FAST_POOL_SERVICE_HOST")
}

// The documented scrape configuration finds the pods whatever name the values give them.
func TestScrapeConfigurationDependsOnNoName(t *testing.T) {
	config, _ := block(t, "scrape_configs:")
	assert.Contains(t, config, "[__meta_kubernetes_pod_container_name, __meta_kubernetes_pod_container_port_name]\n        regex: ssdprobe;http\n")
	set, ok := helm(t, "--set", "nameOverride=probe", "--set", "fullnameOverride=fast")["*v1.DaemonSet fast"].(*appsv1.DaemonSet)
	require.True(t, ok)
	container := set.Spec.Template.Spec.Containers[0]
	assert.Equal(t, "ssdprobe", container.Name)
	assert.Equal(t, "http", container.Ports[0].Name)
}

// The icon is a file of the repository.
func TestChartHasAnIcon(t *testing.T) {
	icon := regexp.MustCompile(`(?m)^icon: https://raw\.githubusercontent\.com/ssdprobe/ssdprobe/main/(\S+)$`).FindStringSubmatch(read(t, at("deploy", "helm", "ssdprobe", "Chart.yaml")))
	require.NotNil(t, icon)
	assert.Contains(t, read(t, at(icon[1])), "<svg ")
}

// The README of the chart documents each value, and no other.
func TestChartDocumentsItsValues(t *testing.T) {
	names := func(path, pattern string) []string {
		var all []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, at("deploy", "helm", "ssdprobe", path)), -1) {
			all = append(all, match[1])
		}
		return all
	}
	want := names("values.yaml", `(?m)^([a-zA-Z]+):`)
	require.Contains(t, want, "podLabels")
	assert.ElementsMatch(t, want, names("README.md", "(?m)^\\| `([a-zA-Z]+)` \\|"))
}
