package manifesttest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

const (
	monitorKind = "*manifesttest.podMonitor ssdprobe"
	rulesKind   = "*manifesttest.rules ssdprobe"
)

// With kinds that it does not know, the API server would refuse the whole release.
func TestChartMakesObjectsOfTheOperatorWhereItIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		args           []string
		monitor, rules bool
	}{
		{"with the operator", template(), true, true},
		{"without", templateBare(), false, false},
		{"with an operator that knows one kind", templateBare("--api-versions", "monitoring.coreos.com/v1/PodMonitor"), true, false},
		{"made whatever is known", templateBare("--set", "podMonitor.enabled=true,prometheusRule.enabled=true"), true, true},
		{"never made", template("--set", "podMonitor.enabled=false,prometheusRule.enabled=false"), false, false},
	} {
		all := parse(t, run(t, tool(t, "helm"), test.args...))
		assert.Equal(t, test.monitor, all[monitorKind] != nil, test.name)
		assert.Equal(t, test.rules, all[rulesKind] != nil, test.name)
	}
	_, stderr, err := try(t, tool(t, "helm"), template("--set", "podMonitor.enabled=maybe")...)
	require.Error(t, err)
	assert.Contains(t, stderr, "'/podMonitor/enabled': value must be one of true, false, 'auto'")
}

// The alerts about missing pods find the DaemonSet whatever its name is.
func TestAlertsFindTheDaemonSet(t *testing.T) {
	t.Parallel()
	selectors := regexp.MustCompile(`(?:(?:daemonset|created_by_name)=~"|pod=~"\()([^")]*)`)
	for release, want := range map[string]string{"ssdprobe-bulk": ".*ssdprobe.*", "drives": ".*ssdprobe.*|drives"} {
		all, ok := helm(t, "--set", "fullnameOverride="+release)["*manifesttest.rules "+release].(*rules)
		require.True(t, ok)
		var found []string
		for _, group := range all.Spec.Groups {
			for _, rule := range group.Rules {
				for _, match := range selectors.FindAllStringSubmatch(rule.Expr, -1) {
					found = append(found, match[1])
				}
			}
		}
		assert.Equal(t, slices.Repeat([]string{want}, 6), found)
	}
}

// The example of the document, as values. It drops only what exists and what nothing of ssdprobe reads.
func TestChartSaysHowToScrape(t *testing.T) {
	t.Parallel()
	values, _ := block(t, "podMonitor:")
	path := filepath.Join(t.TempDir(), "values.yaml")
	write(t, path, values, 0o644)
	args := []string{"--values", path, "--set", "podMonitor.scrapeTimeout=20s,podMonitor.relabelings[0].targetLabel=zone,podMonitor.relabelings[0].action=lowercase"}
	monitor, ok := helm(t, args...)[monitorKind].(*podMonitor)
	require.True(t, ok)
	endpoint := monitor.Spec.PodMetricsEndpoints[0]
	assert.Equal(t, "1m", endpoint.Interval)
	assert.Equal(t, "20s", endpoint.ScrapeTimeout)
	assert.Equal(t, []relabeling{
		{SourceLabels: []string{"__meta_kubernetes_pod_node_name"}, TargetLabel: "instance"}, {TargetLabel: "zone", Action: "lowercase"},
	}, endpoint.Relabelings, "those of the user come last")
	require.Len(t, endpoint.MetricRelabelings, 1)
	drop := endpoint.MetricRelabelings[0]
	assert.Equal(t, []string{"__name__"}, drop.SourceLabels)
	assert.Equal(t, "drop", drop.Action)

	begin, end, _ := strings.Cut(strings.TrimSuffix(drop.Regex, ")"), "(")
	for name := range strings.SplitSeq(end, "|") {
		assert.Contains(t, read(t, at("docs", "metrics.md")), "| `"+begin+name+"` |")
	}
	dropped := regexp.MustCompile("^(?:" + drop.Regex + ")$")
	for _, pattern := range []string{"deploy/prometheus/*.yaml", "dashboards/*.json", "internal/replay/prom*.go"} {
		files, err := filepath.Glob(at(pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			for _, name := range regexp.MustCompile("ssdprobe_[a-z_]+").FindAllString(read(t, file), -1) {
				assert.NotRegexp(t, dropped, name, file)
			}
		}
	}
}

// A daemon with TLS answers nobody who comes without it: all nodes would be down.
func TestMonitorsUseTheSchemeOfTheProbes(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"podMonitor.enabled=true": "", "probes.scheme=HTTPS": "https", "probes.scheme=HTTPS,podMonitor.scheme=http": "http", "podMonitor.scheme=https": "https",
	} {
		monitor, ok := helm(t, "--set", set)[monitorKind].(*podMonitor)
		require.True(t, ok)
		assert.Equal(t, want, monitor.Spec.PodMetricsEndpoints[0].Scheme, set)
	}
}

// A ServiceMonitor finds the pods through a Service, and scrapes them like the PodMonitor, which is then not created.
func TestChartMakesAServiceMonitorInstead(t *testing.T) {
	t.Parallel()
	values := []string{"--set", "podMonitor.labels.release=stack,podMonitor.scheme=https,podMonitor.tlsConfig.insecureSkipVerify=true,podMonitor.interval=1m"}
	pods, ok := helm(t, values...)[monitorKind].(*podMonitor)
	require.True(t, ok)
	all := helm(t, append(values, "--set", "serviceMonitor.enabled=true")...)
	assert.NotContains(t, all, monitorKind, "each pod would be scraped twice")
	monitor, ok := all["*manifesttest.serviceMonitor ssdprobe"].(*serviceMonitor)
	require.True(t, ok)
	assert.Equal(t, pods.Spec.PodMetricsEndpoints, monitor.Spec.Endpoints)
	assert.Equal(t, pods.Spec.JobLabel, monitor.Spec.JobLabel)
	assert.Equal(t, pods.Labels, monitor.Labels)
	assert.Empty(t, monitor.Spec.ServiceDiscoveryRole, "operators before 0.86 do not know it")

	service, ok := all["*v1.Service ssdprobe"].(*corev1.Service)
	require.True(t, ok)
	for label, value := range monitor.Spec.Selector.MatchLabels {
		assert.Equal(t, value, service.Labels[label])
	}
	pod := all.daemonSet(t).Spec.Template
	for label, value := range service.Spec.Selector {
		assert.Equal(t, value, pod.Labels[label])
	}
	assert.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP, "pods get no variables of a Service without an address: ssdprobe has some of such names")
	named := helm(t, append(values, "--set", "serviceMonitor.enabled=true,fullnameOverride=1st.ssdprobe")...)
	assert.Contains(t, named, "*v1.Service s1st-ssdprobe", "the name of a Service begins with a letter and has no dots")
	assert.Equal(t, service.Spec.Ports[0].Name, monitor.Spec.Endpoints[0].Port)
	assert.Equal(t, pod.Spec.Containers[0].Ports[0].Name, service.Spec.Ports[0].TargetPort.StrVal)
}

// Kubernetes cuts off the Endpoints of a Service at 1000 addresses, and whoever installs the chart has to know.
func TestChartFindsMoreThanAThousandNodes(t *testing.T) {
	t.Parallel()
	const service = "serviceMonitor.enabled=true"
	const slices = service + ",serviceMonitor.serviceDiscoveryRole=EndpointSlice"
	monitor, ok := helm(t, "--set", slices)["*manifesttest.serviceMonitor ssdprobe"].(*serviceMonitor)
	require.True(t, ok)
	assert.Equal(t, "EndpointSlice", monitor.Spec.ServiceDiscoveryRole)

	const warning = "finds the pods of 1000 nodes at most"
	assert.Contains(t, notes(t, "--set", service), warning)
	assert.Contains(t, notes(t, "--set", service), "serviceMonitor.serviceDiscoveryRole=EndpointSlice")
	assert.Contains(t, notes(t, "--set", service+",serviceMonitor.serviceDiscoveryRole=null"), warning)
	assert.NotContains(t, notes(t, "--set", slices), warning)
	assert.NotContains(t, notes(t, "--set", "podMonitor.enabled=true"), warning)
}

// OpenShift refuses the pods until their account may use a constraint that allows them.
func TestChartSaysWhatOpenShiftNeeds(t *testing.T) {
	t.Parallel()
	document := read(t, at("docs", "install-kubernetes.md"))
	openShift := []string{"--namespace", "ssdprobe", "--api-versions", "security.openshift.io/v1", "--set"}
	for mode, constraint := range map[string]string{"raw-devices": "privileged", "files": "nonroot-v2"} {
		command := "oc adm policy add-scc-to-user " + constraint + " -z ssdprobe -n ssdprobe\n"
		assert.Contains(t, notes(t, append(openShift, "mode="+mode)...), command)
		assert.NotContains(t, notes(t, "--set", "mode="+mode), "oc adm", "elsewhere")
		assert.Contains(t, document, "\n    "+command)
	}
}

// notes returns what `helm install` tells the user. Only a cluster makes it print that, so a copy of the chart has the
// notes as an object.
func notes(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "templates/_helpers.tpl"} {
		write(t, filepath.Join(dir, name), read(t, at("deploy", "helm", "ssdprobe", name)), 0o644)
	}
	text := read(t, at("deploy", "helm", "ssdprobe", "templates", "NOTES.txt"))
	write(t, filepath.Join(dir, "templates", "notes.yaml"), `{{ define "notes" }}`+text+`{{ end }}notes: {{ include "notes" . | toJson }}`, 0o644)
	var object struct{ Notes string }
	out := run(t, tool(t, "helm"), append([]string{"template", "ssdprobe", dir, "--kube-version", kubeVersion}, args...)...)
	require.NoError(t, yaml.Unmarshal([]byte(out), &object))
	return object.Notes
}

func TestKustomizeWithoutTheOperator(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		all := ownKustomization(t, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- github.com/ssdprobe/ssdprobe/deploy/kubernetes/"+mode+
			"\ncomponents:\n- github.com/ssdprobe/ssdprobe/deploy/kubernetes/without-operator\n", "")
		want := kustomize(t, mode)
		delete(want, monitorKind)
		delete(want, rulesKind)
		assert.Equal(t, want.texts(t), all.texts(t), mode)
	}
}

// The scrape configuration of the document, as far as Debian's Prometheus supports it. That has no
// Kubernetes discovery, so the pods are listed.
func TestDocumentedScrapeConfiguration(t *testing.T) {
	config, _ := block(t, "scrape_configs:")
	const discovery = "kubernetes_sd_configs:\n      - role: pod\n"
	require.Contains(t, config, discovery)
	path := filepath.Join(t.TempDir(), "prometheus.yml")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(config, discovery, "static_configs:\n      - targets: [192.0.2.1:10040]\n", 1)), 0o600))
	run(t, promtest.Program(t, "promtool", "prometheus"), "check", "config", path)
}

// The only place where a user turns severe alerts into critical ones.
func TestChartSetsTheSeverityOfSevere(t *testing.T) {
	severities := func(args ...string) (critical int) {
		return strings.Count(run(t, tool(t, "helm"), template(append(args, "--show-only", "templates/prometheusrule.yaml")...)...), "severity: critical")
	}
	assert.Equal(t, severities()+3, severities("--set", "prometheusRule.severeSeverity=critical"), "drive, host and batch")
}
