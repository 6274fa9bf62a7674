package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/google/go-jsonnet"
	"go.yaml.in/yaml/v3"
)

const (
	rulesFile      = "deploy/prometheus/rules.yaml"
	alertsFile     = "deploy/prometheus/alerts.yaml"
	prometheusRule = "deploy/kubernetes/monitoring/prometheusrule.yaml"

	rulesHead = `# Recording rules of ssdprobe: load this file together with alerts.yaml, which
# builds on it. Made by make generate from deploy/mixin, which explains each rule.
#
# Assumptions:
#   - instance names the node. On Kubernetes relabel it to the node's name
#     (__meta_kubernetes_pod_node_name → instance). An address works as well, but
#     is harder to read. It has to differ between nodes, also across clusters.
#   - A probe of one name is the same workload on all nodes, as with the default
#     configuration.
#
# The first part of a rule's name is the unit that has one series, such as a
# device or a model.
`
	alertsHead = `# Alerts of ssdprobe. They build on rules.yaml: load both. docs/runbook.md has a
# section for each. Made by make generate from deploy/mixin, which explains each
# alert. Change thresholds and severities there.
#
# alertmanager/inhibit_rules.yaml makes one notification of several alerts with the
# same cause.
`
	operatorHead = "# Made by `make generate` from deploy/mixin.\n"
)

// group is a group of Prometheus rules. Its fields are in the order in which people read them.
type group struct {
	Name     string `json:"name" yaml:"name"`
	Interval string `json:"interval" yaml:"interval,omitempty"`
	Rules    []rule `json:"rules" yaml:"rules"`
}

type rule struct {
	Record        string            `json:"record" yaml:"record,omitempty"`
	Alert         string            `json:"alert" yaml:"alert,omitempty"`
	Expr          string            `json:"expr" yaml:"expr"`
	For           string            `json:"for" yaml:"for,omitempty"`
	KeepFiringFor string            `json:"keep_firing_for" yaml:"keep_firing_for,omitempty"`
	Labels        map[string]string `json:"labels" yaml:"labels,omitempty"`
	Annotations   *annotations      `json:"annotations" yaml:"annotations,omitempty"`
}

type annotations struct {
	Summary     string `json:"summary" yaml:"summary"`
	Description string `json:"description" yaml:"description"`
	RunbookURL  string `json:"runbook_url" yaml:"runbook_url"`
}

// monitoring makes the files for Prometheus and the object for its operator from the mixin. They are generated
// because kustomize reads no files outside its own directory, and because a rule file is not a Kubernetes object.
func monitoring(root fs.FS) (map[string]string, error) {
	var rules, alerts struct {
		Groups []group `json:"groups" yaml:"groups"`
	}
	if err := errors.Join(
		evaluate(root, "(import 'deploy/mixin/mixin.libsonnet').prometheusRules", &rules),
		evaluate(root, "(import 'deploy/mixin/mixin.libsonnet').prometheusAlerts", &alerts),
	); err != nil {
		return nil, err
	}
	type labels map[string]string
	object := struct {
		APIVersion string         `yaml:"apiVersion"`
		Kind       string         `yaml:"kind"`
		Metadata   map[string]any `yaml:"metadata"`
		Spec       map[string]any `yaml:"spec"`
	}{
		"monitoring.coreos.com/v1", "PrometheusRule",
		map[string]any{"name": "ssdprobe", "labels": labels{"app.kubernetes.io/name": "ssdprobe", "app.kubernetes.io/instance": "ssdprobe"}},
		map[string]any{"groups": append(alerts.Groups[:len(alerts.Groups):len(alerts.Groups)], rules.Groups...)},
	}
	files := map[string]string{}
	for name, file := range map[string]struct {
		head  string
		value any
	}{rulesFile: {rulesHead, rules}, alertsFile: {alertsHead, alerts}, prometheusRule: {operatorHead, object}} {
		text, err := toYAML(file.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = file.head + text
	}
	return files, nil
}

// evaluate decodes the result of a jsonnet snippet in the repository into a value, which must have a field for every
// member.
func evaluate(root fs.FS, snippet string, into any) error {
	vm := jsonnet.MakeVM()
	vm.Importer(importer{root, map[string]jsonnet.Contents{}})
	text, err := vm.EvaluateAnonymousSnippet("snippet", snippet)
	if err != nil {
		return fmt.Errorf("evaluate the mixin: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("evaluate the mixin: %s: %w", snippet, err)
	}
	return nil
}

// importer reads files of the repository for jsonnet, each only once.
type importer struct {
	root fs.FS
	read map[string]jsonnet.Contents
}

// Import reads a file. Its path is relative to the file that imports it.
func (i importer) Import(from, name string) (jsonnet.Contents, string, error) {
	found := path.Join(path.Dir(from), name)
	if _, known := i.read[found]; !known {
		text, err := fs.ReadFile(i.root, found)
		if err != nil {
			return jsonnet.Contents{}, "", err
		}
		i.read[found] = jsonnet.MakeContentsRaw(text)
	}
	return i.read[found], found, nil
}

func toYAML(value any) (string, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(value), e.Close())
	return b.String(), err
}
