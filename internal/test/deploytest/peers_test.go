package deploytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of many drives the slowest 5 % may be slow together and are found all the
// same; in a small fleet a drive has to be slower than all the others.
func TestOutliersInFleetsOfAllSizes(t *testing.T) {
	for _, c := range []struct{ drives, slow, found int }{
		{4, 1, 0}, // nobody can say which one is right
		{5, 1, 1},
		{5, 2, 0}, // two alike are no outliers of five
		{20, 1, 1},
		{21, 1, 1},
		{40, 2, 2},
		{100, 5, 5},
		{100, 20, 0}, // those are another kind of drive
	} {
		t.Run(fmt.Sprintf("%d of %d", c.slow, c.drives), func(t *testing.T) {
			t.Parallel()
			folder, err := filepath.Abs(rulesDir())
			require.NoError(t, err)
			var b strings.Builder
			fmt.Fprintf(&b, "rule_files: [%s/rules.yaml]\nevaluation_interval: 1m\n", folder)
			b.WriteString("group_eval_order: [ssdprobe-devices, ssdprobe-fleet, ssdprobe-peers]\ntests:\n- interval: 1m\n  input_series:\n")
			for i := range c.drives {
				latency := "80e-6"
				if i < c.slow {
					latency = "160e-6"
				}
				labels := fmt.Sprintf(`job="ssdprobe",instance="stor-%d",device="nvme0n1",id="eui.%d"`, i, i)
				fmt.Fprintf(&b, "  - {series: 'ssdprobe_device_info{%s,model=\"PM9A3\",firmware=\"A\",kind=\"disk\"}', values: 1+0x5}\n", labels)
				fmt.Fprintf(&b, "  - {series: 'ssdprobe_probe_latency_percentile_seconds{%s,probe=\"read-4k\",percentile=\"50\"}', values: %s+0x5}\n", labels, latency)
			}
			b.WriteString("  promql_expr_test:\n")
			b.WriteString("  - expr: count(device:ssdprobe_probe_latency_percentile_seconds:vs_peers > 1.3) or vector(0)\n    eval_time: 5m\n")
			fmt.Fprintf(&b, "    exp_samples: [{labels: '{}', value: %d}]\n", c.found)
			path := filepath.Join(t.TempDir(), "test.yaml")
			require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
			promtool(t, "test", "rules", path)
		})
	}
}
