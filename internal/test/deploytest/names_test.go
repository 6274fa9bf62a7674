package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// exported returns the families in docs/metrics.md, which is generated from the code.
func exported(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "metrics.md"))
	require.NoError(t, err)
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(ssdprobe_[a-z0-9_]+)` \\|").FindAllStringSubmatch(string(data), -1) {
		names = append(names, row[1])
	}
	require.NotEmpty(t, names)
	return names
}

// Every metric that is queried has to exist: in package export or as a recording rule.
func TestEveryNameIsKnown(t *testing.T) {
	known := exported(t)
	for _, r := range rules(t, "rules.yaml") {
		known = append(known, r.Record)
	}
	texts := map[string]string{}
	for _, file := range []string{"rules.yaml", "alerts.yaml"} {
		for _, r := range rules(t, file) {
			texts[file+" "+r.Record+r.Alert] = r.Expr + r.Annotations["description"] + r.Annotations["summary"]
		}
	}
	for what, expr := range allQueries() {
		texts[what] = expr
	}
	texts["the runbook"] = runbook(t)
	for what, text := range texts {
		for _, name := range metricNames(text) {
			assert.Contains(t, known, name, what)
		}
	}
}

// A matcher of a label that a metric does not have selects nothing, or does not restrict anything.
func TestEveryLabelThatIsSelectedExists(t *testing.T) {
	labels := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(ssdprobe_[a-z0-9_]+)` \\| \\w+ \\| ([a-z_, ]*) \\|").FindAllStringSubmatch(document(t, "docs/metrics.md"), -1) {
		// none is the label that no series has.
		labels[row[1]] = append(strings.Split(row[2], ", "), "cluster", "job", "instance", "le", "none")
	}
	texts := allQueries()
	for _, file := range []string{"rules.yaml", "alerts.yaml"} {
		for _, r := range rules(t, file) {
			texts[file+" "+r.Record+r.Alert] = r.Expr + strings.ReplaceAll(strings.ReplaceAll(r.Annotations["description"], `\"`, `"`), "=%q", `=""`)
		}
	}
	found, suffix := 0, regexp.MustCompile(`_(bucket|count|sum)$`)
	for what, text := range texts {
		for _, selector := range regexp.MustCompile(`(?:^|[^\w:])(ssdprobe_[a-z0-9_]+){([^}]*)}`).FindAllStringSubmatch(text, -1) {
			family := selector[1]
			if labels[family] == nil {
				family = suffix.ReplaceAllString(family, "")
			}
			for _, label := range regexp.MustCompile(`(?:^|,)\s*(\w+)\s*[=!]`).FindAllStringSubmatch(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(selector[2], ""), -1) {
				found++
				// The overview selects findings without a drive by the label model, which they do not have.
				if family != "ssdprobe_finding" || label[1] != "model" {
					assert.Contains(t, labels[family], label[1], "%s: %s", what, selector[0])
				}
			}
		}
	}
	assert.Greater(t, found, 400)
}

// Exactly the existing recording rules are documented. Names that differ in their last part may share a row.
func TestEveryRecordingRuleIsDocumented(t *testing.T) {
	var documented, recorded []string
	_, section, found := strings.Cut(document(t, "docs/metrics.md"), "\n## Recording rules\n")
	require.True(t, found)
	for _, row := range regexp.MustCompile("(?m)^\\| (`.+?`) \\|").FindAllStringSubmatch(section, -1) {
		names := strings.Split(strings.ReplaceAll(row[1], "`", ""), ", ")
		stem := names[0][:strings.LastIndex(names[0], ":")]
		for _, name := range names {
			if strings.HasPrefix(name, ":") {
				name = stem + name
			}
			documented = append(documented, name)
		}
	}
	for _, r := range rules(t, "rules.yaml") {
		recorded = append(recorded, r.Record)
	}
	assert.ElementsMatch(t, recorded, documented)
}

// A query for a verdict that does not exist finds nothing: its alert never fires, and its panel is empty.
func TestEveryVerdictThatIsSelectedExists(t *testing.T) {
	texts, found := allQueries(), 0
	for _, file := range []string{"rules.yaml", "alerts.yaml"} {
		for _, r := range rules(t, file) {
			texts[file+" "+r.Record+r.Alert] = r.Expr
		}
	}
	for what, text := range texts {
		for _, match := range regexp.MustCompile(`ssdprobe_(?:drive|host)_health(?:_info)?{[^}]*state=~?"([^"]+)"`).FindAllStringSubmatch(text, -1) {
			for state := range strings.SplitSeq(match[1], "|") {
				found++
				assert.Contains(t, record.DriveVerdicts(), record.DriveVerdict(state), what)
			}
		}
	}
	assert.Greater(t, found, 50)
}

// Alerts named in code and documents have to exist: the view of the fleet queries one, and advice
// links to the runbook.
func TestAlertsThatAreNamedElsewhereExist(t *testing.T) {
	known := map[string]bool{}
	for _, a := range rules(t, "alerts.yaml") {
		known[a.Alert] = true
	}
	named := regexp.MustCompile(`\b(Ssdprobe[A-Z]\w+)(?:[^(.\w]|$)`) // not part of a regular expression
	root, found := filepath.Join("..", "..", ".."), 0
	for _, pattern := range []string{"README.md", "docs/*.md", "internal/*/*.go", "internal/test/*/*.go", "deploy/helm/ssdprobe/templates/*", "deploy/helm/ssdprobe/values.yaml"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // a directory
			}
			for _, name := range named.FindAllStringSubmatch(string(text), -1) {
				found++
				assert.True(t, known[name[1]], "%s names %s", path, name[1])
			}
		}
	}
	assert.Greater(t, found, 30)
}

// metricNames returns ssdprobe's own metrics, including recorded ones, without the suffixes that
// Prometheus adds to histograms.
func metricNames(text string) []string {
	var names []string
	for _, name := range regexp.MustCompile(`[a-z_]*:?ssdprobe_[a-z0-9_]+(:[a-z0-9_]+)?`).FindAllString(text, -1) {
		if !strings.Contains(name, ":") {
			name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestMetricNames(t *testing.T) {
	assert.Equal(t,
		[]string{"device:ssdprobe_device_info:unique", "ssdprobe_nvme_io_queues", "ssdprobe_probe_latency_seconds"},
		metricNames(`sum(ssdprobe_probe_latency_seconds_bucket{le="1"}) + ssdprobe_nvme_io_queues * device:ssdprobe_device_info:unique`))
}
