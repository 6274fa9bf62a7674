package cli_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each recipe in the documentation is a complete file and causes no warning.
func TestRecipesOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	recipes := regexp.MustCompile("(?ms)^### ([^\n]+)\n(?:[^#`][^\n]*\n|\n|`[^`][^\n]*\n)*?```yaml\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, recipes, 5)
	for _, recipe := range recipes {
		t.Run(recipe[1], func(t *testing.T) {
			path := file(t, "ssdprobe.yaml", recipe[2])
			got := in("config", "check", path)
			assert.Zero(t, got.code, got.stderr)
			assert.Regexp(t, "^"+path+`: valid\n(  \S+: .*(\n {8,}.*)*\(.*\)\n)+$`, got.stdout)
			assert.Zero(t, in("config", "show", "--config", path).code)
		})
	}
}

// Without a file, config show prints the defaults. A daemon with a file has others, so it says so, beside the YAML.
func TestConfigShowWithoutAFileSaysSo(t *testing.T) {
	t.Setenv("SSDPROBE_CONFIG", "")
	const says = "no configuration file is named by --config or $SSDPROBE_CONFIG, so these are the defaults\n"
	got := in("config", "show")
	assert.Zero(t, got.code)
	assert.Equal(t, says, got.stderr)
	path := file(t, "ssdprobe.yaml", got.stdout)
	named := in("config", "show", "--config", path)
	assert.Equal(t, got.stdout, named.stdout)
	assert.Empty(t, named.stderr)
	t.Setenv("SSDPROBE_CONFIG", path)
	assert.Empty(t, in("config", "show").stderr)
}
