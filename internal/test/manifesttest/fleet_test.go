package manifesttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
)

// Without a fleet, the manifests request no permissions in the cluster.
func TestNoRoleByDefault(t *testing.T) {
	for _, mode := range modes {
		for name, object := range kustomize(t, mode) {
			assert.NotContains(t, name, "Role")
			if policy, ok := object.(*networkingv1.NetworkPolicy); ok {
				assert.Empty(t, policy.Spec.Egress)
				assert.Contains(t, policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
			}
		}
	}
}

// fleetKustomization builds the kustomization of docs/install-kubernetes.md, for a mode and with more.
func fleetKustomization(t *testing.T, mode, more, configuration string) objects {
	t.Helper()
	const text = "components:\n      - github.com/ssdprobe/ssdprobe/deploy/kubernetes/fleet\n"
	require.Contains(t, read(t, at("docs", "install-kubernetes.md")), "    "+text)
	return ownKustomization(t, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+more+
		"resources:\n- github.com/ssdprobe/ssdprobe/deploy/kubernetes/"+mode+"\n"+strings.ReplaceAll(text, "    ", "")+
		"configMapGenerator:\n- {name: ssdprobe, behavior: merge, files: [ssdprobe.yaml]}\n", configuration)
}

// permissions returns the permissions of the pods in these manifests, and whether they have a token.
func permissions(t *testing.T, all objects) (token bool, rules []rbacv1.PolicyRule, ports []string) {
	t.Helper()
	pod := all.daemonSet(t).Spec.Template.Spec
	role, ok := all["*v1.Role ssdprobe"].(*rbacv1.Role)
	require.True(t, ok)
	binding, ok := all["*v1.RoleBinding ssdprobe"].(*rbacv1.RoleBinding)
	require.True(t, ok)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: role.Name}, binding.RoleRef)
	assert.Equal(t, role.Namespace, binding.Namespace)
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: pod.ServiceAccountName, Namespace: all.daemonSet(t).Namespace}}, binding.Subjects)
	policy, ok := all["*v1.NetworkPolicy ssdprobe"].(*networkingv1.NetworkPolicy)
	require.True(t, ok)
	for _, egress := range policy.Spec.Egress {
		for _, port := range egress.Ports {
			ports = append(ports, fmt.Sprintf("%s to %v", port.Port, egress.To))
		}
	}
	return *pod.AutomountServiceAccountToken, role.Rules, ports
}

// leaseRules returns the permissions that a configuration needs.
func leaseRules(c config.Config) []rbacv1.PolicyRule {
	rule := rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
		ResourceNames: fleet.Names(c.Fleet.Lease, c.Fleet.MaxRuns), Verbs: []string{"get", "update"},
	}
	create := rule
	create.ResourceNames, create.Verbs = nil, []string{"create"}
	return []rbacv1.PolicyRule{rule, create}
}

func TestFleetMayTakeItsLeasesAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			repeated := read(t, at("deploy", "kubernetes", mode, "ssdprobe.yaml"))
			byKustomize := fleetKustomization(t, mode, "namespace: ssdprobe\n", repeated+"fleet: {enabled: true}\n")
			byHelm := helm(t, "--set", "mode="+mode+",config.fleet.enabled=true")
			c := byKustomize.config(t)
			assert.True(t, c.Fleet.Enabled)
			assert.Equal(t, c, byHelm.config(t))
			assert.Equal(t, byKustomize.texts(t), byHelm.texts(t))

			token, rules, ports := permissions(t, byKustomize)
			assert.True(t, token)
			assert.Equal(t, leaseRules(c), rules)
			assert.Equal(t, []string{"443 to []", "6443 to []"}, ports)
		})
	}
}

// The role is bound to the account of the pods, whatever their namespace is.
func TestFleetIsBoundToTheAccountOfItsNamespace(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]string{"": "ssdprobe", "namespace: ssdprobe\n": "ssdprobe", "namespace: storage\n": "storage"} {
		for _, mode := range modes {
			all := fleetKustomization(t, mode, more, "fleet: {enabled: true}\n")
			_, rules, _ := permissions(t, all)
			assert.Equal(t, leaseRules(all.config(t)), rules)
			for _, name := range []string{"DaemonSet", "ServiceAccount", "Role", "RoleBinding"} {
				assert.Equal(t, want, all["*v1."+name+" ssdprobe"].GetNamespace(), "%s in %q", name, more)
			}
		}
	}
	all := helm(t, "--namespace", "storage", "--set", "config.fleet.enabled=true")
	permissions(t, all)
	assert.Equal(t, "storage", all["*v1.RoleBinding ssdprobe"].GetNamespace())
}

// A role without names would apply to all leases of the namespace.
func TestChartRefusesARoleWithoutNames(t *testing.T) {
	for _, number := range []string{"0", "-1", "65", "null", "many"} {
		args := template("--set", "config.fleet.enabled=true,config.fleet.max_runs="+number)
		_, stderr, err := try(t, tool(t, "helm"), args...)
		require.Error(t, err, number)
		assert.Contains(t, stderr, "/config/fleet/max_runs", number)
		_, stderr, err = try(t, tool(t, "helm"), append(args, "--skip-schema-validation")...)
		require.Error(t, err, number)
		assert.Contains(t, stderr, "config.fleet.max_runs: ", number)
		assert.Contains(t, stderr, " is not from 1 to 64", number)
	}
	all := helm(t, "--set", "config.fleet.enabled=true,config.fleet.max_runs=64")
	_, rules, _ := permissions(t, all)
	assert.Equal(t, leaseRules(all.config(t)), rules)
}

func TestChartFollowsTheConfigurationOfTheFleet(t *testing.T) {
	all := helm(t, "--set", "config.fleet.enabled=true,config.fleet.max_runs=3,config.fleet.lease=slow,config.fleet.namespace=other",
		"--set", "networkPolicy.apiServer.ports={8443},networkPolicy.apiServer.to[0].ipBlock.cidr=192.0.2.1/32")
	_, rules, ports := permissions(t, all)
	assert.Equal(t, leaseRules(all.config(t)), rules)
	assert.Equal(t, []string{"slow-0", "slow-1", "slow-2"}, rules[0].ResourceNames)
	assert.Equal(t, "other", all["*v1.Role ssdprobe"].GetNamespace())
	require.Len(t, ports, 1)
	assert.Contains(t, ports[0], "8443 to [{nil nil &IPBlock{CIDR:192.0.2.1/32")

	byFile := helm(t, "--set", "config.fleet.enabled=true,config.fleet.kubeconfig=/etc/kube/config,"+extraMount("/etc/kube"))
	policy, ok := byFile["*v1.NetworkPolicy ssdprobe"].(*networkingv1.NetworkPolicy)
	require.True(t, ok)
	assert.NotEmpty(t, policy.Spec.Egress, "the way to the API server of the file")
	assert.NotContains(t, byFile, "*v1.Role ssdprobe", "the file says who asks")
	assert.False(t, *byFile.daemonSet(t).Spec.Template.Spec.AutomountServiceAccountToken)
}
