package deploytest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const runbookURL = "https://github.com/ssdprobe/ssdprobe/blob/main/docs/runbook.md#"

// The summary is one sentence about the kind of problem, as in kubernetes-mixin, so that alerts can
// be grouped by it. The drive and all figures are in the description.
func TestEveryAlertSaysWhatIsWrongWhere(t *testing.T) {
	for _, a := range rules(t, "alerts.yaml") {
		t.Run(a.Alert+" "+a.Labels["severity"], func(t *testing.T) {
			assert.Contains(t, []string{"critical", "warning", "info"}, a.Labels["severity"])
			assert.Len(t, a.Annotations, 3)
			assert.Regexp(t, `^[A-Zs][^.{}]+\.$`, a.Annotations["summary"], "one sentence, always the same")
			description := a.Annotations["description"]
			switch {
			case ofDaemonSet(a):
				assert.Contains(t, description, "$labels.namespace }}/{{ $labels.daemonset")
			case ofFleet(a):
				assert.NotContains(t, description, "{{ $labels.instance }}")
			case ofNode(a):
				assert.Contains(t, description, "{{ $labels.instance }}")
				assert.NotContains(t, description, "{{ $labels.device }}")
			case a.Alert == "SsdprobeTargetGone": // the drive has no name any more, only the one under which it was last seen
				for _, label := range []string{".Labels.device", "{{ $labels.id }}", "{{ with $labels.model }}", "{{ $labels.instance }}"} {
					assert.Contains(t, description, label)
				}
			default:
				for _, label := range []string{"{{ $labels.device }}", "{{ $labels.id }}", "{{ with $labels.model }}", "{{ $labels.instance }}"} {
					assert.Contains(t, description, label)
				}
			}
		})
	}
}

// A label that may be empty, for a virtual drive or a probe file, is checked before it is shown.
func TestNoDescriptionTellsAnEmptyLabel(t *testing.T) {
	bare := regexp.MustCompile(`(\{\{-? if \$labels\.device \}\})?\{\{-? ?\$labels\.(device|model|firmware|from|to) `)
	for _, a := range rules(t, "alerts.yaml") {
		for _, found := range bare.FindAllStringSubmatch(a.Annotations["description"], -1) {
			assert.NotEmpty(t, found[1], "%s: %s", a.Alert, found[0])
		}
	}
	told := regexp.MustCompile(`\( |\(\)|\(,|, \)| [.,] |  `)
	for _, fired := range firedInTests(t) {
		assert.NotRegexp(t, told, fired.Annotations["description"])
		assert.NotContains(t, slices.Collect(maps.Values(fired.Labels)), "")
	}
}

// Prometheus asks the queries of a description for every alert that is active. If one reads the series of all nodes, the
// cost is the square of the number of slow drives. Series of models are few.
func TestNoDescriptionReadsTheWholeFleet(t *testing.T) {
	query := regexp.MustCompile(`printf "((?:[^"\\]|\\.)*)"`)
	selector := regexp.MustCompile(`(?:^|[^\w:])(?:(?:device|instance):[\w:]+|(?:ssdprobe|process)_\w+|up)\b(\{[^}]*\})?`)
	quoted := regexp.MustCompile(`\\"(?:[^"\\]|\\[^"])*\\"`)
	read := 0
	for _, a := range rules(t, "alerts.yaml") {
		if ofFleet(a) || ofDaemonSet(a) {
			continue
		}
		for _, q := range query.FindAllStringSubmatch(a.Annotations["description"], -1) {
			for _, s := range selector.FindAllStringSubmatch(quoted.ReplaceAllString(q[1], "''"), -1) {
				assert.Contains(t, s[1], "instance=%q", "%s: %s in %s", a.Alert, s[0], q[1])
				read++
			}
		}
	}
	assert.Greater(t, read, 50, "they are found")
}

// Prometheus 3 returns groups in any order, so that a description would change from one evaluation to the next.
func TestListsInDescriptionsAreSorted(t *testing.T) {
	listed := regexp.MustCompile(`\{\{-? ?range [^"{}]*printf "((?:[^"\\]|\\.)*)"[^}]*\}\}`)
	found := 0
	for _, a := range rules(t, "alerts.yaml") {
		for _, list := range listed.FindAllStringSubmatch(a.Annotations["description"], -1) {
			if query := list[1]; strings.Contains(query, " by (") && !strings.HasPrefix(query, "topk(") {
				assert.Contains(t, list[0], "sortByLabel", a.Alert)
				found++
			}
		}
	}
	assert.NotZero(t, found)
}

// ofNode reports whether an alert is about ssdprobe itself, the host or a batch, and not about a drive.
func ofNode(a rule) bool {
	return !strings.Contains(a.Expr, "device") || regexp.MustCompile(`^count by \(cluster, job, instance, (model|code)\) \(`).MatchString(a.Expr)
}

// ofFleet reports whether an alert is about something that many nodes share, and so belongs to no node.
func ofFleet(a rule) bool {
	return regexp.MustCompile(`^(max by \((model, firmware|condition, from, to)\)|count by \(cluster, job\)) \(`).MatchString(a.Expr)
}

// ofDaemonSet reports whether an alert is about all pods together, and so has no node.
func ofDaemonSet(a rule) bool { return strings.Contains(a.Expr, "by (cluster, namespace, daemonset)") }

// Alerts that look back for hours take Prometheus seconds in a large fleet. Evaluated every fifteen seconds, as by default
// with some operators, they would delay the others of their group.
func TestAlertsThatLookBackForHoursAreEvaluatedSeldom(t *testing.T) {
	spans := regexp.MustCompile(`\[(\d+[a-z]+)(?::\w*)?\]`)
	found := 0
	for _, g := range readRules(t, "alerts.yaml").Groups {
		for _, r := range g.Rules {
			for _, span := range spans.FindAllStringSubmatch(r.Expr, -1) {
				back, err := model.ParseDuration(span[1])
				require.NoError(t, err)
				if time.Duration(back) <= time.Hour {
					continue
				}
				found++
				assert.GreaterOrEqual(t, time.Duration(g.Interval), 5*time.Minute, "%s reads %s", r.Alert, span[0])
				assert.LessOrEqual(t, time.Duration(back), 24*time.Hour, "%s reads %s", r.Alert, span[0])
			}
		}
	}
	assert.NotZero(t, found)
}

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

// anchor returns the anchor that GitHub derives from a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}
