package deploytest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// Where one server evaluates the rules of several clusters, two of them may have nodes of the same name: whatever tells nodes
// apart tells clusters apart.
func TestNodesAreThoseOfACluster(t *testing.T) {
	labels := regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	chosen := regexp.MustCompile(`\{[^{}]*\binstance=%q[^{}]*\}`)
	seen := 0
	for _, name := range []string{"rules.yaml", "alerts.yaml"} {
		for _, r := range rules(t, name) {
			texts := r.Expr + r.Annotations["description"]
			for _, list := range labels.FindAllStringSubmatch(texts, -1) {
				fields := strings.Split(list[1], ", ")
				if !slices.Contains(fields, "instance") || list[1] == "instance" && mayLackTheLabel(r) {
					continue
				}
				seen++
				assert.Contains(t, fields, "cluster", "%s%s: %s", r.Alert, r.Record, list[0])
			}
			for _, selector := range chosen.FindAllString(texts, -1) {
				seen++
				assert.Contains(t, selector, "cluster=%q", "%s: %s", r.Alert, selector)
			}
		}
	}
	assert.Greater(t, seen, 200)
}

// mayLackTheLabel says of which alerts the series may have the label of a cluster while those they are compared with do not: those
// of kube-state-metrics, and those of ssdprobe from before they got it.
func mayLackTheLabel(r rule) bool {
	return r.Alert == "SsdprobeNodeNotWatched" || r.Alert == "SsdprobeNotScraped"
}

// The same in the dashboards: every series that is read is one of the chosen clusters, and joins and sums tell them apart.
func TestQueriesOfTheDashboardsChooseTheCluster(t *testing.T) {
	var (
		chosen   = regexp.MustCompile(`[\w:]+{[^{}]*\bcluster=~?"\$cluster\|?"[^{}]*}`)
		others   = regexp.MustCompile(`"[^"]*"|\[[^]]*\]|\w+ (by|without) \([^)]*\)|\b(on|ignoring|group_left) \([^)]*\)|\w+ *\(|\b(and|or|unless|bool|group_left)\b`)
		name     = regexp.MustCompile(`[a-zA-Z_:][\w:]*`)
		labels   = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
		selected = 0
	)
	for dashboard, d := range dashboards.All() {
		queries, _ := expressions(d)
		for what, expr := range queries {
			selected += len(chosen.FindAllString(expr, -1))
			assert.Empty(t, name.FindAllString(others.ReplaceAllString(chosen.ReplaceAllString(expr, ""), ""), -1),
				"%s/%s: of any cluster: %s", dashboard, what, expr)
			for _, list := range labels.FindAllStringSubmatch(expr, -1) {
				if fields := strings.Split(list[1], ", "); slices.Contains(fields, "instance") {
					assert.Contains(t, fields, "cluster", "%s/%s: %s", dashboard, what, expr)
				}
			}
		}
	}
	assert.Greater(t, selected, 300)
}
