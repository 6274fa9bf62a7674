package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	return string(data)
}

func TestTheReadmeListsEveryAlert(t *testing.T) {
	var want []string
	severities := map[string][]string{}
	for _, a := range rules(t, "alerts.yaml") {
		if severities[a.Alert] == nil {
			want = append(want, a.Alert)
		}
		severities[a.Alert] = append(severities[a.Alert], a.Labels["severity"])
	}
	var got []string
	row := regexp.MustCompile(`(?m)^\| \[(Ssdprobe\w+)\]\(docs/runbook\.md#(\w+)\) \| ([a-z, ]+) \| .+ \|$`)
	for _, match := range row.FindAllStringSubmatch(readme(t), -1) {
		got = append(got, match[1])
		assert.Equal(t, anchor(match[1]), match[2])
		assert.Equal(t, strings.Join(severities[match[1]], ", "), match[3], match[1])
	}
	assert.Equal(t, want, got)
}

func TestTheMetricsOfTheReadmeExist(t *testing.T) {
	known := exported(t)
	names := metricNames(readme(t))
	assert.GreaterOrEqual(t, len(names), 12)
	for _, name := range names {
		assert.Contains(t, known, name)
	}
}

// Links of the documents to files of the tree, and to sections of them.
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
