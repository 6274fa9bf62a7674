package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	// Golden text may not depend on the time zone or the language of the machine.
	time.Local = time.FixedZone("", 2*60*60)
	text.OverrideRuneWidthEastAsianWidth(false)
	os.Exit(m.Run())
}

// golden compares text with a file in testdata. It first checks that the text is plain
// and that no line ends in spaces.
func golden(t *testing.T, name, got string) {
	t.Helper()
	assert.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f]`, got, "control characters")
	assert.NotRegexp(t, `(?m) $`, got, "trailing spaces")
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	assert.Equal(t, string(want), got)
}

func widest(text string) int {
	width := 0
	for line := range strings.Lines(text) {
		width = max(width, len([]rune(strings.TrimSuffix(line, "\n"))))
	}
	return width
}
