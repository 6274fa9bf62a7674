package deploytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// rulesDir holds the rules, the alerts and their tests.
func rulesDir() string { return filepath.Join("..", "..", "..", "deploy", "prometheus") }

// promtool runs Prometheus' own checker and returns what it printed.
func promtool(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), promtest.Program(t, "promtool", "prometheus"), arguments...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// ruleFile is a file of rules, with the fields that are used here.
type ruleFile struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval,omitempty"`
	Rules    []rule         `yaml:"rules"`
}

type rule struct {
	Record        string            `yaml:"record,omitempty"`
	Alert         string            `yaml:"alert,omitempty"`
	Expr          string            `yaml:"expr"`
	For           model.Duration    `yaml:"for,omitempty"`
	KeepFiringFor model.Duration    `yaml:"keep_firing_for,omitempty"`
	Labels        map[string]string `yaml:"labels,omitempty"`
	Annotations   map[string]string `yaml:"annotations,omitempty"`
}

// rules returns the rules of one file, in order.
func rules(t *testing.T, name string) []rule {
	t.Helper()
	var all []rule
	for _, g := range readRules(t, name).Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all, name)
	return all
}

func readRules(t *testing.T, name string) ruleFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(rulesDir(), name))
	require.NoError(t, err)
	var file ruleFile
	require.NoError(t, yaml.Unmarshal(data, &file))
	return file
}

func TestPromtoolAcceptsRulesAndAlerts(t *testing.T) {
	promtool(t, "check", "rules", "--lint-fatal", filepath.Join(rulesDir(), "rules.yaml"), filepath.Join(rulesDir(), "alerts.yaml"))
}

func TestRulesAndAlertsDoWhatTheyShould(t *testing.T) {
	for _, file := range ruleTests(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			test, err := os.ReadFile(file)
			require.NoError(t, err)
			testRules(t, string(test))
		})
	}
}

func ruleTests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(rulesDir(), "tests", "*_test.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// parses lets promtool parse queries, by their purpose. They are passed as recording rules, because
// promtool parses nothing else.
func parses(t *testing.T, queries map[string]string) {
	t.Helper()
	all := ruleGroup{Name: "queries"}
	for what, expr := range queries {
		// The label identifies the query in promtool's messages.
		all.Rules = append(all.Rules, rule{Record: fmt.Sprintf("query_%d", len(all.Rules)), Expr: expr, Labels: map[string]string{"what": what}})
	}
	data, err := yaml.Marshal(ruleFile{Groups: []ruleGroup{all}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "queries.yaml")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	promtool(t, "check", "rules", path)
}

// The scrape configuration of docs/install-systemd.md is valid, and makes instance the name of the host.
func TestTheScrapeConfigurationOfHosts(t *testing.T) {
	block := regexp.MustCompile(`(?m)^    scrape_configs:\n(?:    .*\n)+`).FindString(document(t, "docs/install-systemd.md"))
	require.NotEmpty(t, block)
	path := filepath.Join(t.TempDir(), "prometheus.yaml")
	text := []byte(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, ""))
	require.NoError(t, os.WriteFile(path, text, 0o600))
	promtool(t, "check", "config", path)

	var config struct {
		Jobs []struct {
			Static []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
			Relabel []struct {
				Regex  string `yaml:"regex"`
				Target string `yaml:"target_label"`
			} `yaml:"relabel_configs"`
		} `yaml:"scrape_configs"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	rule := config.Jobs[0].Relabel[0]
	require.Equal(t, "instance", rule.Target)
	require.Equal(t, "stor-07", regexp.MustCompile("^(?:" + rule.Regex + ")$").FindStringSubmatch(config.Jobs[0].Static[0].Targets[0])[1])
}
