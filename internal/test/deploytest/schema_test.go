package deploytest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// plainTypes are Grafana's types in the form of JSON: the value of an enumeration in place of its name.
// Options may be incomplete, because the rest has defaults; unknown properties are still refused.
const plainTypes = `
export type Plain<T> = T extends string ? ` + "`${T}`" + ` : T extends number ? (number extends T ? T : ` + "`${T}` extends `${infer N extends number}` ? N : T" + `)
  : T extends (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export type Part<T> = T extends (infer E)[] ? Part<E>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;
`

// types returns the files in which Grafana keeps the options of each kind of panel.
func types() map[string]string {
	return map[string]string{
		"timeseries": "timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen", "stat": "stat/panelcfg/x/StatPanelCfg_types.gen",
		"table": "table/panelcfg/x/TablePanelCfg_types.gen", "heatmap": "heatmap/panelcfg/x/HeatmapPanelCfg_types.gen",
		"barchart": "barchart/panelcfg/x/BarChartPanelCfg_types.gen", "state-timeline": "statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen",
	}
}

// Grafana's own types accept the dashboards, and the options of every panel.
func TestGrafanasTypesAcceptTheDashboards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("package.json", `{"type": "module"}`)
	write("plain.ts", plainTypes)
	for name, d := range dashboards.All() {
		write(name+".ts", typescript(t, d))
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "..", "scripts", "check-dashboards.sh"), dir).CombinedOutput()
	require.NoError(t, err, string(out))
}

// typescript returns a dashboard as values of Grafana's types.
func typescript(t *testing.T, d dashboards.Dashboard) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("import type { Dashboard } from '@grafana/schema';\nimport type { Part, Plain } from './plain.js';\n")
	for kind, path := range types() {
		fmt.Fprintf(&b, "import type * as %s from '@grafana/schema/dist/esm/raw/composable/%s';\n", identifier(kind), path)
	}
	value := func(v any) string {
		text, err := json.MarshalIndent(v, "", "  ")
		require.NoError(t, err)
		return string(text)
	}
	m := d.Model()
	for _, a := range m["annotations"].(dashboards.Object)["list"].([]dashboards.Object) {
		for _, own := range []string{"target", "useValueForTime", "titleFormat", "textFormat", "tagKeys"} {
			delete(a, own) // belongs to the Prometheus data source, which the types of dashboards do not include
		}
	}
	for _, p := range panels(m) {
		kind := p["type"].(string)
		if kind == "row" {
			continue
		}
		require.Contains(t, types(), kind)
		fmt.Fprintf(&b, "export const options%d: Plain<Part<%s.Options>> = %s;\n", p["id"], identifier(kind), value(p["options"]))
		if kind == "stat" { // it has no field options
			continue
		}
		fmt.Fprintf(&b, "export const custom%d: Plain<Part<%s.FieldConfig>> = %s;\n", p["id"], identifier(kind),
			value(p["fieldConfig"].(dashboards.Object)["defaults"].(dashboards.Object)["custom"]))
	}
	fmt.Fprintf(&b, "export const dashboard: Plain<Dashboard> = %s;\n", value(m))
	return b.String()
}

func identifier(kind string) string { return strings.ReplaceAll(kind, "-", "_") }
