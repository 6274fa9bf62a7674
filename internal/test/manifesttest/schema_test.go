package manifesttest

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// podMonitor has the fields of monitoring.coreos.com/v1 that are used.
type podMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		JobLabel            string               `json:"jobLabel"`
		Selector            metav1.LabelSelector `json:"selector"`
		PodMetricsEndpoints []endpoint           `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		JobLabel             string               `json:"jobLabel"`
		Selector             metav1.LabelSelector `json:"selector"`
		ServiceDiscoveryRole string               `json:"serviceDiscoveryRole,omitempty"`
		Endpoints            []endpoint           `json:"endpoints"`
	} `json:"spec"`
}

// endpoint says how Prometheus gets access, and what it makes of the series.
type endpoint struct {
	Port              string       `json:"port"`
	Path              string       `json:"path"`
	Scheme            string       `json:"scheme,omitempty"`
	TLSConfig         any          `json:"tlsConfig,omitempty"`
	BasicAuth         any          `json:"basicAuth,omitempty"`
	Interval          string       `json:"interval,omitempty"`
	ScrapeTimeout     string       `json:"scrapeTimeout,omitempty"`
	Relabelings       []relabeling `json:"relabelings"`
	MetricRelabelings []relabeling `json:"metricRelabelings,omitempty"`
}

type relabeling struct {
	SourceLabels []string `json:"sourceLabels,omitempty"`
	TargetLabel  string   `json:"targetLabel,omitempty"`
	Regex        string   `json:"regex,omitempty"`
	Action       string   `json:"action,omitempty"`
}

// rules has the fields of monitoring.coreos.com/v1 PrometheusRule that are used.
type rules struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Groups []struct {
			Name        string            `json:"name"`
			Interval    string            `json:"interval,omitempty"`
			QueryOffset string            `json:"query_offset,omitempty"`
			Limit       int               `json:"limit,omitempty"`
			Labels      map[string]string `json:"labels,omitempty"`
			Rules       []struct {
				Record        string            `json:"record,omitempty"`
				Alert         string            `json:"alert,omitempty"`
				Expr          string            `json:"expr"`
				For           string            `json:"for,omitempty"`
				KeepFiringFor string            `json:"keep_firing_for,omitempty"`
				Labels        map[string]string `json:"labels,omitempty"`
				Annotations   map[string]string `json:"annotations,omitempty"`
			} `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

// decode decodes an object into the type of its kind; a field that the type does not have, or that
// occurs twice, fails the test.
func decode(t *testing.T, text string) metav1.Object {
	t.Helper()
	var kind metav1.TypeMeta
	require.NoError(t, yaml.Unmarshal([]byte(text), &kind))
	var object metav1.Object
	switch kind {
	case metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}:
		object = &corev1.ConfigMap{}
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}:
		object = &corev1.Pod{}
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}:
		object = &corev1.Service{}
	case metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}:
		object = &corev1.ServiceAccount{}
	case metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}:
		object = &appsv1.DaemonSet{}
	case metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}:
		object = &networkingv1.NetworkPolicy{}
	case metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}:
		object = &schedulingv1.PriorityClass{}
	case metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}:
		object = &rbacv1.Role{}
	case metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}:
		object = &rbacv1.RoleBinding{}
	case metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}:
		object = &rbacv1.ClusterRole{}
	case metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"}:
		object = &rbacv1.ClusterRoleBinding{}
	case metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy"}:
		object = &admissionv1.ValidatingAdmissionPolicy{}
	case metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding"}:
		object = &admissionv1.ValidatingAdmissionPolicyBinding{}
	case metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}:
		object = &batchv1.Job{}
	case metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "PodMonitor"}:
		object = &podMonitor{}
	case metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "ServiceMonitor"}:
		object = &serviceMonitor{}
	case metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule"}:
		object = &rules{}
	default:
		require.Failf(t, "a kind that is not expected", "%+v in:\n%s", kind, text)
	}
	require.NoErrorf(t, yaml.UnmarshalStrict([]byte(text), object), "decode:\n%s", text)
	return object
}
