package deploytest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const runbookURL = "https://github.com/ssdprobe/ssdprobe/blob/main/docs/runbook.md#"

func TestEveryAlertSaysWhatIsWrongWhere(t *testing.T) {
	for _, a := range rules(t, "alerts.yaml") {
		t.Run(a.Alert+" "+a.Labels["severity"], func(t *testing.T) {
			assert.Contains(t, []string{"critical", "warning", "info"}, a.Labels["severity"])
			assert.Len(t, a.Annotations, 3)
			assert.NotEmpty(t, a.Annotations["description"])
			if ofDaemonSet(a) {
				assert.Contains(t, a.Annotations["summary"], "$labels.namespace }}/{{ $labels.daemonset")
				return
			}
			if ofFleet(a) {
				assert.NotContains(t, a.Annotations["summary"], "$labels.instance")
				return
			}
			assert.Contains(t, a.Annotations["summary"], "$labels.instance")
			if ofNode(a) {
				assert.NotContains(t, a.Annotations["summary"], "$labels.device")
				return
			}
			for _, label := range []string{"device", "id", "model"} {
				assert.Contains(t, a.Annotations["summary"], "$labels."+label)
			}
		})
	}
}

// ofNode tells alerts about ssdprobe itself from those about a drive: they know
// of no device.
func ofNode(a rule) bool { return !strings.Contains(a.Expr, "device") }

// ofFleet tells alerts about what drives of many nodes share: they are for no node.
func ofFleet(a rule) bool {
	return strings.HasPrefix(a.Expr, "max by (model, firmware) (") || strings.HasPrefix(a.Expr, "max by (condition, from, to) (")
}

// ofDaemonSet tells alerts about all pods together: they know of no node.
func ofDaemonSet(a rule) bool { return strings.Contains(a.Expr, "by (cluster, namespace, daemonset)") }

func TestEveryAlertHasASectionInTheRunbook(t *testing.T) {
	var anchors, linked []string
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(runbook(t), -1) {
		anchors = append(anchors, anchor(heading[1]))
	}
	for _, a := range rules(t, "alerts.yaml") {
		url := a.Annotations["runbook_url"]
		assert.Equal(t, runbookURL+anchor(a.Alert), url)
		linked = append(linked, strings.TrimPrefix(url, runbookURL))
	}
	slices.Sort(linked)
	slices.Sort(anchors)
	assert.Equal(t, slices.Compact(linked), anchors, "a section for each alert and none for others")
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// Of every alert, and of every severity of one, there is a case that fires and a
// case that must not.
func TestEveryAlertIsTested(t *testing.T) {
	type expected struct {
		Labels map[string]string `yaml:"exp_labels"`
	}
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, path := range ruleTests(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct {
			Tests []struct {
				Alerts []struct {
					Name     string     `yaml:"alertname"`
					Expected []expected `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
			} `yaml:"tests"`
		}
		require.NoError(t, yaml.Unmarshal(data, &file), path)
		for _, test := range file.Tests {
			for _, a := range test.Alerts {
				rests[a.Name] = rests[a.Name] || len(a.Expected) == 0
				for _, e := range a.Expected {
					fires[a.Name+" "+e.Labels["severity"]] = true
				}
			}
		}
	}
	for _, a := range rules(t, "alerts.yaml") {
		assert.True(t, fires[a.Alert+" "+a.Labels["severity"]], "no test in which %s (%s) fires", a.Alert, a.Labels["severity"])
		assert.True(t, rests[a.Alert], "no test in which %s must not fire", a.Alert)
		delete(fires, a.Alert+" "+a.Labels["severity"])
	}
	assert.Empty(t, fires, "tests of alerts that are not there")
}
