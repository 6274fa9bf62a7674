package promtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var interval = regexp.MustCompile(`(?m)^ {4}interval: .*\n`)

// Prompt writes a copy of a file of rules in which no group has an interval of its own, and returns its path. The
// evaluation_interval of the configuration then holds for all of them.
func Prompt(t testing.TB, rules string) (path string) {
	t.Helper()
	all, err := os.ReadFile(rules)
	require.NoError(t, err)
	return write(t, filepath.Base(rules), interval.ReplaceAllString(string(all), ""))
}
