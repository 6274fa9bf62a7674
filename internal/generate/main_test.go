package main

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	assert.Contains(t, text, "[drift.md](drift.md#tune-it)")
	for _, list := range []string{"files", "probes", "runs", "quiet_hours"} {
		assert.Contains(t, text, "\n| `"+list+"` | list of sections | ")
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_.\\[\\]-]+)` \\|(.*)$").FindAllStringSubmatch(text, -1) {
		for i, cell := range strings.SplitN(row[2], " |", 3)[:2] {
			assert.NotEmpty(t, strings.TrimSpace(cell), "%s: %s", row[1], []string{"type", "default"}[i])
		}
	}
}

// Whoever changes one probe has to know what the others are.
func TestTheReferenceHasTheDefaultProbes(t *testing.T) {
	text, err := reference()
	require.NoError(t, err)
	_, probes, found := strings.Cut(text, "### probes\n")
	require.True(t, found)
	probes, _, _ = strings.Cut(probes, "\n### ")
	var keys []string
	for _, k := range config.Keys()[slices.IndexFunc(config.Keys(), func(k config.Key) bool { return k.Name == "probes" })].Keys {
		keys = append(keys, k.Name)
	}
	assert.Contains(t, probes, "| "+strings.Join(keys, " | ")+" |\n")
	for _, p := range config.Default().Probes {
		assert.Regexp(t, "(?m)^\\| `"+p.Name+"` \\|( `[^`]+` \\|){"+strconv.Itoa(len(keys)-1)+"}$", probes)
	}
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
