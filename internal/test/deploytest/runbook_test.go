package deploytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

func runbook(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runbook.md"))
	require.NoError(t, err)
	return string(data)
}

// fenced returns the lines in the code blocks of a language.
func fenced(text, language string) []string {
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	return lines
}

func TestPromtoolParsesTheQueriesOfTheRunbook(t *testing.T) {
	queries := map[string]string{}
	for i, line := range fenced(runbook(t), "promql") {
		queries[fmt.Sprintf("query %d of the runbook", i)] = line
	}
	require.NotEmpty(t, queries)
	page, err := os.ReadFile("../../../docs/traffic.md")
	require.NoError(t, err)
	for i, line := range fenced(string(page), "promql") {
		queries[fmt.Sprintf("query %d of traffic.md", i)] = line
	}
	parses(t, queries)
}

// The commands are not run, because they need the drives that they are about. Only their words and flags are checked.
func TestTheCommandsOfTheRunbookExist(t *testing.T) {
	binary := lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")
	seen := map[string]bool{}
	for _, line := range fenced(runbook(t), "sh") {
		words := strings.Fields(line)
		if words[0] != "ssdprobe" || seen[line] {
			continue
		}
		seen[line] = true
		// With --help, flags are still parsed but nothing is done. An unknown word gives the help of another command.
		out, err := exec.CommandContext(t.Context(), binary, append(words[1:], "--help")...).CombinedOutput()
		require.NoError(t, err, "%s: %s", line, out)
		assert.Contains(t, string(out), "\n  ssdprobe "+words[1], line)
	}
	assert.Greater(t, len(seen), 5)
}

func TestEverySectionOfTheRunbookSaysAll(t *testing.T) {
	sections := strings.Split(runbook(t), "\n## ")[1:]
	require.NotEmpty(t, sections)
	for _, s := range sections {
		name, text, _ := strings.Cut(s, "\n")
		for _, part := range []string{"**Means:**", "**Look closer:**", "**Usually:**", "**Do:**"} {
			assert.Contains(t, text, part, name)
		}
		for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			assert.Contains(t, strings.ToLower(runbook(t)), "\n## "+link[1]+"\n", "%s links to nothing", name)
		}
	}
}
