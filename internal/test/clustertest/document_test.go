//go:build kubernetes

package clustertest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// document returns docs/install-kubernetes.md.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "install-kubernetes.md"))
	require.NoError(t, err)
	return string(text)
}

// command returns the only command of the document that begins with begin, word for word.
func command(t *testing.T, begin string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^    (`+regexp.QuoteMeta(begin)+`(?:[^\w\n-](?:.*\\\n)*.*)?)$`).FindAllStringSubmatch(document(t), -1)
	require.NotEmpty(t, found, begin)
	for _, match := range found {
		require.Equal(t, found[0][1], match[1], "two commands that begin so")
	}
	return found[0][1]
}

// block returns the only block of the document that begins with begin.
func block(t *testing.T, begin string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^\n    `+regexp.QuoteMeta(begin)+`(?:.*\n    |.*\n\n    )*.*\n`).FindAllString(document(t), -1)
	require.Len(t, found, 1, begin)
	return regexp.MustCompile(`(?m)^    `).ReplaceAllString(found[0][1:], "")
}
