package main

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

func TestFilesAreUpToDate(t *testing.T) {
	root := os.DirFS(root)
	all, err := files(root)
	require.NoError(t, err)
	for name, want := range all {
		got, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		if want != string(got) { // a diff of whole dashboards would be unreadable
			t.Errorf("%s is out of date: run make generate", name)
		}
	}
	for _, folder := range dashboards.Folders() {
		found, err := fs.Glob(root, folder+"/*")
		require.NoError(t, err)
		for _, name := range found {
			assert.Contains(t, all, name, "it is made no more: run make generate")
		}
	}
}

// A setting that a user changes in one place affects every rule that depends on it.
func TestTheMixinIsConfigured(t *testing.T) {
	const changed = "((import 'deploy/mixin/mixin.libsonnet') + {_config+:: {severeSeverity: 'critical', selector: 'cluster=\"a\"', kubeStateMetricsSelector: 'job=\"k\"', peerRatio: 1.4}})"
	var alerts, rules struct{ Groups []group }
	require.NoError(t, evaluate(os.DirFS(root), changed+".prometheusAlerts", &alerts))
	require.NoError(t, evaluate(os.DirFS(root), changed+".prometheusRules", &rules))
	severities, exprs := map[string][]string{}, ""
	for _, g := range slices.Concat(alerts.Groups, rules.Groups) {
		for _, r := range g.Rules {
			severities[r.Alert+" "+r.Labels["state"]] = append(severities[r.Alert+" "+r.Labels["state"]], r.Labels["severity"])
			exprs += r.Expr + "\n"
		}
	}
	for alert, want := range map[string]string{
		"SsdprobeDriveSevere ": "critical", "SsdprobeHostSlower severe": "critical", "SsdprobeBatchSlower severe": "critical",
		"SsdprobeDriveDegraded ": "warning", "SsdprobeHostSlower degraded": "warning", "SsdprobeBatchSlower degraded": "warning",
	} {
		assert.Equal(t, []string{want}, severities[alert], alert)
	}
	for _, want := range []string{
		`ssdprobe_device_info{cluster="a"}`, `ssdprobe_host_health{state="severe",cluster="a"}`, `ssdprobe_collector_success{collector="state",cluster="a"}`,
		`timestamp(ssdprobe_build_info{cluster="a"})`, `{daemonset=~".*ssdprobe.*",job="k"}`, `{statistic!~"latency_p9.*"}), 1.4)`,
	} {
		assert.Contains(t, exprs, want)
	}
	boards := map[string]any{}
	require.NoError(t, evaluate(os.DirFS(root), "(import 'deploy/mixin/mixin.libsonnet').grafanaDashboards", &boards))
	assert.Len(t, boards, len(dashboards.All()))
}

func TestTheReferenceSaysWhatEachKeyDoes(t *testing.T) {
	text, err := reference()
	require.NoError(t, err)
	assert.Contains(t, text, "| `discovery_interval` |")
	assert.NotContains(t, text, "|  |\n")
}

// In an example of a list, each key has its own comment, behind it.
func TestKeysOfAnExampleHaveTheirOwnComments(t *testing.T) {
	text, err := commentedFile()
	require.NoError(t, err)
	lists := 0
	for _, k := range config.Keys() {
		if k.Example == nil || !k.IsList {
			continue
		}
		for i, key := range k.Example.Content[0].Content {
			if i%2 == 0 {
				lists++
				of := k.Keys[slices.IndexFunc(k.Keys, func(of config.Key) bool { return of.Name == key.Value })]
				assert.Regexp(t, `(?m)^#.*\b`+key.Value+`:.*# `+regexp.QuoteMeta(of.Description())+`$`, text, "%s.%s", k.Name, key.Value)
			}
		}
	}
	assert.Positive(t, lists)
}
