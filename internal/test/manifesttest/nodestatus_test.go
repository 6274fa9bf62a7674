package manifesttest

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/nodestatus"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// toldKustomization builds the kustomization of docs/install-kubernetes.md that reports slow drives
// to the cluster, for a mode and with more.
func toldKustomization(t *testing.T, mode, more, configuration string) objects {
	t.Helper()
	const text = "components:\n      - github.com/ssdprobe/ssdprobe/deploy/kubernetes/node-status\n      - github.com/ssdprobe/ssdprobe/deploy/kubernetes/node-taint\n"
	require.Contains(t, strings.ReplaceAll(read(t, at("docs", "install-kubernetes.md")), " # only for the taint", ""), "    "+text)
	return ownKustomization(t, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+more+
		"resources:\n- github.com/ssdprobe/ssdprobe/deploy/kubernetes/"+mode+"\n"+strings.ReplaceAll(text, "    ", "")+
		"configMapGenerator:\n- {name: ssdprobe, behavior: merge, files: [ssdprobe.yaml]}\n", configuration)
}

// withoutHooks returns the permanent objects.
func (o objects) withoutHooks() objects {
	all := maps.Clone(o)
	maps.DeleteFunc(all, func(_ string, object metav1.Object) bool { return object.GetAnnotations()["helm.sh/hook"] != "" })
	return all
}

func TestTellingTheClusterIsTheSameByHelmAndKustomize(t *testing.T) {
	t.Parallel()
	const told = "kubernetes: {enabled: true, taint: NoSchedule}\n"
	for _, mode := range modes {
		repeated := read(t, at("deploy", "kubernetes", mode, "ssdprobe.yaml"))
		byKustomize := toldKustomization(t, mode, "namespace: ssdprobe\n", repeated+told)
		byHelm := helm(t, "--set", "mode="+mode+",config.kubernetes.enabled=true,config.kubernetes.taint=NoSchedule").withoutHooks()
		assert.Equal(t, byKustomize.config(t), byHelm.config(t))
		// Helm knows the namespace of the account.
		assert.Equal(t, "request.userInfo.username.matches('^system:serviceaccount:[^:]+:ssdprobe$')", byKustomize.policy(t).MatchConditions[0].Expression)
		byHelm.policy(t).MatchConditions = byKustomize.policy(t).MatchConditions
		assert.Equal(t, byKustomize.texts(t), byHelm.texts(t))
	}
}

// policy returns the policy that restricts the rights of the account ssdprobe.
func (o objects) policy(t *testing.T) *admissionv1.ValidatingAdmissionPolicySpec {
	t.Helper()
	policy, ok := o["*v1.ValidatingAdmissionPolicy ssdprobe-node-status"].(*admissionv1.ValidatingAdmissionPolicy)
	require.True(t, ok)
	return &policy.Spec
}

// rulesOf returns all rules of the account's roles, and requires that the roles are bound to the account.
func rulesOf(t *testing.T, all objects, namespace string) (rules []rbacv1.PolicyRule) {
	t.Helper()
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "ssdprobe", Namespace: namespace}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch o := all[name].(type) {
		case *rbacv1.ClusterRole:
			rules = append(rules, o.Rules...)
			binding, ok := all["*v1.ClusterRoleBinding "+o.Name].(*rbacv1.ClusterRoleBinding)
			require.True(t, ok, name)
			assert.Equal(t, rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: o.Name}, binding.RoleRef)
			assert.Equal(t, account, binding.Subjects, name)
		case *rbacv1.Role:
			rules = append(rules, o.Rules...)
			binding, ok := all["*v1.RoleBinding "+o.Name].(*rbacv1.RoleBinding)
			require.True(t, ok, name)
			assert.Equal(t, rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: o.Name}, binding.RoleRef)
			assert.Equal(t, account, binding.Subjects, name)
			assert.Equal(t, namespace, o.Namespace)
			assert.Equal(t, namespace, binding.Namespace)
		}
	}
	return rules
}

func rule(group, resource string, names []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names, Verbs: verbs}
}

// The account has only the rights for the features that are enabled, in each way of installing.
func TestTellingTheClusterNeedsTheseRightsOnly(t *testing.T) {
	t.Parallel()
	status := []rbacv1.PolicyRule{
		rule("", "nodes", nil, "get"), rule("", "nodes/status", nil, "patch"), rule("events.k8s.io", "events", nil, "create"),
	}
	taint := func(most int) []rbacv1.PolicyRule {
		return append(append([]rbacv1.PolicyRule{}, status...), rule("", "nodes", nil, "patch"),
			rule("coordination.k8s.io", "leases", fleet.Names(nodestatus.Lease, most), "get", "update"), rule("coordination.k8s.io", "leases", nil, "create"))
	}
	assert.Equal(t, status, rulesOf(t, helm(t, "--set", "config.kubernetes.enabled=true").withoutHooks(), "ssdprobe"))
	assert.Equal(t, taint(3), rulesOf(t, helm(t, "--namespace", "storage", "--set",
		"config.kubernetes.enabled=true,config.kubernetes.taint=PreferNoSchedule,config.kubernetes.max_taints=3").withoutHooks(), "storage"))
	for more, want := range map[string]string{"": "ssdprobe", "namespace: ssdprobe\n": "ssdprobe", "namespace: storage\n": "storage"} {
		all := toldKustomization(t, "files", more, "kubernetes: {enabled: true, taint: NoSchedule}\n")
		assert.Equal(t, taint(1), rulesOf(t, all, want))
		assert.True(t, *all.daemonSet(t).Spec.Template.Spec.AutomountServiceAccountToken)
	}
	for _, set := range []string{"config.kubernetes.enabled=false,config.kubernetes.taint=NoSchedule", "config.kubernetes.enabled=true,config.kubernetes.kubeconfig=/etc/kube/config," + extraMount("/etc/kube")} {
		all := helm(t, "--set", set)
		assert.Empty(t, rulesOf(t, all, "ssdprobe"), set)
		assert.Equal(t, slices.Sorted(maps.Keys(helm(t).withoutHooks())), slices.Sorted(maps.Keys(all)), "nothing is added by %s", set)
		assert.False(t, *all.daemonSet(t).Spec.Template.Spec.AutomountServiceAccountToken)
	}
}

// With both features, a pod has the rights of both.
func TestFleetAndTellingTheClusterTogether(t *testing.T) {
	all := helm(t, "--set", "config.fleet.enabled=true,config.kubernetes.enabled=true").withoutHooks()
	rules := rulesOf(t, all, "ssdprobe")
	assert.Contains(t, rules, leaseRules(all.config(t))[0])
	assert.Contains(t, rules, rule("", "nodes/status", nil, "patch"))
}

// The policy applies to the account of the release, whose name may have dots.
func TestThePolicyIsForTheAccountOfTheRelease(t *testing.T) {
	args := template("--set", "config.kubernetes.enabled=true")
	args[slices.Index(args, "ssdprobe")] = "storage.probe"
	all := parse(t, run(t, tool(t, "helm"), args...))
	policy, ok := all["*v1.ValidatingAdmissionPolicy storage.probe-node-status"].(*admissionv1.ValidatingAdmissionPolicy)
	require.True(t, ok)
	assert.Equal(t, "request.userInfo.username == 'system:serviceaccount:ssdprobe:storage.probe'", policy.Spec.MatchConditions[0].Expression)
	assert.Equal(t, admissionv1.Fail, *policy.Spec.FailurePolicy)
	binding, ok := all["*v1.ValidatingAdmissionPolicyBinding storage.probe-node-status"].(*admissionv1.ValidatingAdmissionPolicyBinding)
	require.True(t, ok)
	assert.Equal(t, policy.Name, binding.Spec.PolicyName)
	assert.Equal(t, []admissionv1.ValidationAction{admissionv1.Deny}, binding.Spec.ValidationActions)

	assert.Contains(t, policy.Spec.Validations[4].Expression, "'"+nodestatus.ConditionType+"'")
	assert.Contains(t, policy.Spec.Validations[5].Expression, "'"+nodestatus.TaintKey+"'")
}

// However few taints a user tolerates, the taint of ssdprobe does not repel its own pods.
func TestChartAndManifestsTolerateTheirOwnTaint(t *testing.T) {
	own := corev1.Toleration{Key: nodestatus.TaintKey, Operator: corev1.TolerationOpExists}
	const few = "config.kubernetes.enabled=true,tolerations[0].key=storage,tolerations[0].operator=Exists"
	for _, tolerations := range []string{few, "config.kubernetes.enabled=true,tolerations=null"} {
		all := helm(t, "--set", tolerations+",config.kubernetes.taint=NoSchedule")
		pod := all.daemonSet(t).Spec.Template.Spec
		assert.Contains(t, pod.Tolerations, own, tolerations)
		job, ok := all["*v1.Job ssdprobe-cleanup"].(*batchv1.Job)
		require.True(t, ok)
		assert.Equal(t, pod.Tolerations, job.Spec.Template.Spec.Tolerations)
		assert.Equal(t, pod.Tolerations, testHooks(t, "--set", tolerations+",config.kubernetes.taint=NoSchedule").testPod(t, "test-ssdprobe").Spec.Tolerations)
		assert.NotContains(t, helm(t, "--set", tolerations).daemonSet(t).Spec.Template.Spec.Tolerations, own, "without the taint")
	}
	assert.Equal(t, []corev1.Toleration{{Key: "storage", Operator: corev1.TolerationOpExists}, own},
		helm(t, "--set", few+",config.kubernetes.taint=NoSchedule").daemonSet(t).Spec.Template.Spec.Tolerations)
	byKustomize := toldKustomization(t, "files", "namespace: ssdprobe\n", "kubernetes: {enabled: true, taint: NoSchedule}\n")
	assert.Contains(t, byKustomize.daemonSet(t).Spec.Template.Spec.Tolerations, own)
}

func TestChartRefusesATaintThatEvicts(t *testing.T) {
	for set, want := range map[string]string{
		"config.kubernetes.taint=NoExecute": "config.kubernetes.taint: NoExecute would evict the pods of the node; want one of none, PreferNoSchedule, NoSchedule",
		"config.kubernetes.max_taints=0":    "config.kubernetes.max_taints: 0 is not from 1 to 64",
	} {
		args := template("--set", "config.kubernetes.enabled=true,"+set)
		_, stderr, err := try(t, tool(t, "helm"), args...)
		require.Error(t, err)
		assert.Contains(t, stderr, "/config/kubernetes/")
		_, stderr, err = try(t, tool(t, "helm"), append(args, "--skip-schema-validation")...)
		require.Error(t, err)
		assert.Contains(t, stderr, want)
	}
}

// The reports are removed when the release is uninstalled, by an account that is then removed, too.
func TestUninstallCleansUp(t *testing.T) {
	for name, object := range helm(t) {
		assert.NotContains(t, object.GetAnnotations(), "helm.sh/hook", name)
	}
	all := helm(t, "--set", "config.kubernetes.enabled=true,imagePullSecrets[0].name=registry,tolerations[0].operator=Exists")
	hooks := map[string]string{}
	for name, object := range all {
		if hook := object.GetAnnotations()["helm.sh/hook"]; hook != "" {
			hooks[name] = hook + " " + object.GetAnnotations()["helm.sh/hook-weight"]
			assert.Equal(t, "before-hook-creation,hook-succeeded", object.GetAnnotations()["helm.sh/hook-delete-policy"])
		}
	}
	assert.Equal(t, map[string]string{
		"*v1.ServiceAccount ssdprobe-cleanup": "post-delete -1", "*v1.ClusterRole ssdprobe-cleanup": "post-delete -1",
		"*v1.ClusterRoleBinding ssdprobe-cleanup": "post-delete -1", "*v1.Job ssdprobe-cleanup": "post-delete ",
	}, hooks)
	job, ok := all["*v1.Job ssdprobe-cleanup"].(*batchv1.Job)
	require.True(t, ok)
	// When helm no longer waits, it deletes the account of a Job that still runs.
	document := read(t, at("docs", "install-kubernetes.md"))
	timeouts := regexp.MustCompile(`helm uninstall ssdprobe --namespace ssdprobe --timeout (\w+)`).FindAllStringSubmatch(document, -1)
	require.NotEmpty(t, timeouts)
	for _, timeout := range timeouts {
		patience, err := time.ParseDuration(timeout[1])
		require.NoError(t, err)
		assert.Greater(t, patience.Seconds(), float64(*job.Spec.ActiveDeadlineSeconds))
	}
	pod := job.Spec.Template.Spec
	assert.Equal(t, "ssdprobe-cleanup", pod.ServiceAccountName)
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.Equal(t, "registry", pod.ImagePullSecrets[0].Name)
	assert.Equal(t, all.daemonSet(t).Spec.Template.Spec.Tolerations, pod.Tolerations)
	require.Len(t, pod.Containers, 1)
	assert.Equal(t, all.daemonSet(t).Spec.Template.Spec.Containers[0].Image, pod.Containers[0].Image)

	// The command accepts its arguments without a home directory, and says that there is no cluster.
	_, stderr, err := try(t, "env", append([]string{"-i", program(t)}, pod.Containers[0].Args...)...)
	require.Error(t, err)
	assert.Contains(t, stderr, "no service account of a cluster here")
}

// Argo CD makes hooks of its own of those after an uninstall, and may wait for them for ever.
func TestTheCleanupCanBeLeftOut(t *testing.T) {
	t.Parallel()
	const told = "config.kubernetes.enabled=true,config.kubernetes.taint=NoSchedule"
	without := helm(t, "--set", told+",cleanup.enabled=false")
	for name, object := range without {
		assert.NotContains(t, object.GetAnnotations(), "helm.sh/hook", name)
	}
	assert.Equal(t, helm(t, "--set", told).withoutHooks().texts(t), without.texts(t))
}

// What is deleted by hand after a failed Job is what the chart may leave.
func TestTheDocumentDeletesWhatTheCleanupLeaves(t *testing.T) {
	t.Parallel()
	document := read(t, at("docs", "install-kubernetes.md"))
	remains := regexp.MustCompile(`(?m)^    kubectl --namespace ssdprobe delete --ignore-not-found (job/.*)$`).FindStringSubmatch(document)
	require.NotNil(t, remains)
	var want []string
	for name, object := range helm(t, "--set", "config.kubernetes.enabled=true") {
		if object.GetAnnotations()["helm.sh/hook"] != "" {
			kind, name, _ := strings.Cut(strings.TrimPrefix(name, "*v1."), " ")
			want = append(want, strings.ToLower(kind)+"/"+name)
		}
	}
	assert.ElementsMatch(t, want, strings.Fields(remains[1]))
}

// Applied like the rest, the hooks would at once remove what the daemons set.
func TestTheDocumentLeavesOutTheHooks(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(t, at("docs", "install-kubernetes.md")), "If you apply the output of `helm template` yourself, give it `--no-hooks`.")
	for name, object := range helm(t, "--set", "config.kubernetes.enabled=true", "--skip-tests=false", "--no-hooks") {
		assert.NotContains(t, object.GetAnnotations(), "helm.sh/hook", name)
	}
}

// The Job of `helm uninstall` reads all nodes of a cluster. Those with many images, labels and annotations are large.
func TestCleanupFitsIntoTheMemoryOfItsJob(t *testing.T) {
	const nodes, filling = 3000, 48 << 10
	object := func(i int) string {
		return fmt.Sprintf(`{"metadata": {"name": "storage-%d", "annotations": {"a": %q}}}`, i, strings.Repeat("a", filling))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _ := strconv.Atoi(r.FormValue("continue")) // none for the first page
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if !assert.NoError(t, err) {
			return
		}
		var items []string
		for i := first; i < min(first+limit, nodes); i++ {
			items = append(items, object(i))
		}
		next := ""
		if first+limit < nodes {
			next = strconv.Itoa(first + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"metadata": {"continue": %q}, "items": [%s]}`, next, strings.Join(items, ","))
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, kubeconfig, fmt.Sprintf(`{kind: Config, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}`, server.URL), 0o600)
	job, ok := helm(t, "--set", "config.kubernetes.enabled=true")["*v1.Job ssdprobe-cleanup"].(*batchv1.Job)
	require.True(t, ok)
	container := job.Spec.Template.Spec.Containers[0]
	c := exec.CommandContext(t.Context(), program(t), append(container.Args, "--kubeconfig="+kubeconfig)...)
	testenv.InCGroup(c, testenv.MemoryCGroup(t, container.Resources.Limits.Memory().Value()))
	out, err := c.CombinedOutput()
	require.NoError(t, err, "beyond its limit, the kernel kills it: %s", out)
}
