package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// The keys in docs/configuration.md are made from the form; -update makes them anew.
func TestReference(t *testing.T) {
	const document, marker = "../../docs/configuration.md", "<!-- What follows is made by `make golden` from internal/config. -->\n\n"
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	before, got, found := strings.Cut(string(text), marker)
	require.True(t, found, "the document has the line %q", marker)
	want := config.Reference()
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(before+marker+want), 0o644))
		got = want
	}
	assert.Equal(t, want, got, "make golden")
	assert.NotContains(t, want, "|  |\n", "each key says what it does")
}
