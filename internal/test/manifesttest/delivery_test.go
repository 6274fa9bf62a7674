package manifesttest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Flux and others leave out links that lead out of the chart. Without the files behind them, a release would have no
// alert and no dashboard, and nothing would say so.
func TestChartWithoutItsLinksIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(at("deploy", "helm", "ssdprobe"))))
	for _, link := range []string{"dashboards", "prometheus"} {
		require.NoError(t, os.Remove(filepath.Join(dir, link)))
	}
	args := slices.Replace(template(), 2, 3, dir)
	for set, want := range map[string]string{
		"dashboards.enabled=false":     "prometheusRule.enabled: the folder prometheus is missing from the chart",
		"prometheusRule.enabled=false": "dashboards.enabled: the folder dashboards is missing from the chart",
	} {
		_, stderr, err := try(t, tool(t, "helm"), append(args, "--set", set)...)
		require.Error(t, err, set)
		key, _, _ := strings.Cut(want, ":")
		assert.Contains(t, stderr, want+"; `helm package` includes it, and "+key+"=false does without", set)
	}
	none := []string{"--set", "dashboards.enabled=false,prometheusRule.enabled=false"}
	assert.Equal(t, helm(t, none...).texts(t), parse(t, run(t, tool(t, "helm"), append(args, none...)...)).texts(t))
}

// umbrella writes the chart that the README of this one shows, which depends on it, and returns the arguments to render it.
func umbrella(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	blocks := regexp.MustCompile(`(?m)(^    .*\n)+`).FindAllString(read(t, at("deploy", "helm", "ssdprobe", "README.md")), -1)
	require.Len(t, blocks, 2)
	require.Contains(t, blocks[0], "dependencies:")
	write(t, filepath.Join(dir, "Chart.yaml"), "apiVersion: v2\nname: storage\nversion: 1.0.0\n"+strings.ReplaceAll(blocks[0], "\n    ", "\n")[4:], 0o644)
	write(t, filepath.Join(dir, "values.yaml"), strings.ReplaceAll(blocks[1], "\n    ", "\n")[4:], 0o644)
	run(t, tool(t, "helm"), "package", at("deploy", "helm", "ssdprobe"), "--destination", filepath.Join(dir, "charts"))
	return slices.Replace(template(), 1, 3, "storage", dir)
}

// A chart that has this one as a dependency hands it the condition of the dependency as a value.
func TestChartIsADependency(t *testing.T) {
	t.Parallel()
	args := umbrella(t)
	all := parse(t, run(t, tool(t, "helm"), args...))
	want := helm(t)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(all)), "rules and dashboards are in the package")
	assert.Equal(t, "storage", all.daemonSet(t).Labels["app.kubernetes.io/instance"])
	assert.Equal(t, want.config(t), all.config(t))
	assert.Empty(t, strings.TrimSpace(run(t, tool(t, "helm"), append(args, "--set", "ssdprobe.enabled=false")...)))

	// Nobody reads the condition of a chart that is no dependency.
	assert.Equal(t, want.texts(t), helm(t, "--set", "enabled=true").texts(t))
	_, stderr, err := try(t, tool(t, "helm"), template("--set", "enabled=false")...)
	require.Error(t, err)
	assert.Contains(t, stderr, "enabled: false: leave it out; it is the condition of a dependency on this chart")
}
