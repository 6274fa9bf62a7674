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
)

func document(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", path))
	require.NoError(t, err)
	return string(data)
}

func TestTheRunbookListsEveryAlert(t *testing.T) {
	var want []string
	severities, waits := map[string][]string{}, map[string][]string{}
	for _, a := range rules(t, "alerts.yaml") {
		if severities[a.Alert] == nil {
			want = append(want, a.Alert)
		}
		severities[a.Alert] = append(severities[a.Alert], a.Labels["severity"])
		waits[a.Alert] = append(waits[a.Alert], a.For.String())
	}
	var got []string
	row := regexp.MustCompile(`(?m)^\| \[(Ssdprobe\w+)\]\(#(\w+)\) \| ([a-z, ]+) \| .+ \| ([0-9a-z, ]+) \|$`)
	for _, match := range row.FindAllStringSubmatch(document(t, "docs/runbook.md"), -1) {
		got = append(got, match[1])
		assert.Equal(t, anchor(match[1]), match[2])
		assert.Equal(t, strings.Join(slices.Compact(severities[match[1]]), ", "), match[3], match[1])
		wait := strings.NewReplacer(" ", "", "min", "m", ",", ", ").Replace(match[4])
		assert.Equal(t, strings.Join(slices.Compact(waits[match[1]]), ", "), wait, match[1])
	}
	assert.Equal(t, want, got)
}

// The CPU budget has a part for ssdprobe and one for each target.
func TestTheRunbookListsTheWholeBudget(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| \[SsdprobeCPUBudgetExceeded\].*$`).FindString(document(t, "docs/runbook.md"))
	all := rules(t, "alerts.yaml")
	budget := all[slices.IndexFunc(all, func(r rule) bool { return r.Alert == "SsdprobeCPUBudgetExceeded" })]
	figures := regexp.MustCompile(`[0-9.]+ %`).FindAllString(budget.Annotations["description"], -1)
	assert.Len(t, figures, 2)
	for _, figure := range figures {
		assert.Contains(t, row, " "+figure)
	}
}

// The alert in the README reads as in promtool, except for the time.
func TestTheAlertOfTheReadme(t *testing.T) {
	shown := regexp.MustCompile("(?s)fires one alert for it, `SsdprobeDriveDegraded`.*?```text\n(.*?)```").FindStringSubmatch(document(t, "README.md"))
	require.NotNil(t, shown)
	told := document(t, "deploy/prometheus/tests/speed_test.yaml")
	since := regexp.MustCompile(`since .* UTC`)
	for _, line := range strings.FieldsFunc(shown[1], func(r rune) bool { return r == '\n' }) {
		assert.Contains(t, since.ReplaceAllString(told, "since"), since.ReplaceAllString(line, "since"))
	}
}

// The part of the README before the list of documents is short.
func TestTheReadmeIsShort(t *testing.T) {
	first, _, found := strings.Cut(document(t, "README.md"), "## Read on")
	require.True(t, found)
	assert.LessOrEqual(t, len(strings.Fields(first)), 900)
}

func TestTheMetricsOfTheReadmeExist(t *testing.T) {
	known := exported(t)
	names := metricNames(document(t, "README.md"))
	assert.GreaterOrEqual(t, len(names), 12)
	for _, name := range names {
		assert.Contains(t, known, name)
	}
}

// Links in the documents to files of the tree, and to sections in them, have a target.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	found := 0
	for _, document := range append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			found++
			to := document
			if match[1] != "" {
				to = filepath.Join(filepath.Dir(document), match[1])
			}
			linked, err := os.ReadFile(to)
			if assert.NoErrorf(t, err, "%s links to %s", document, match[1]) && match[2] != "" {
				var anchors []string
				for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(linked), -1) {
					anchors = append(anchors, anchor(heading[1]))
				}
				assert.Contains(t, anchors, match[2], "%s links to %s", document, match[0])
			}
		}
	}
	assert.Greater(t, found, 20)
}
