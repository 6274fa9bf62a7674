//go:build picture

package storytest_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// TestPicture makes the picture of the status page in docs: eight drives of 960 GB, one of which
// gets slow while a daemon watches, for which half a minute passes each second. Only that clock is
// made up, and the drives' blocks, which are shared.
func TestPicture(t *testing.T) {
	const drives, sizeBytes = 8, 960_197_124_096
	picture, err := filepath.Abs("../../../docs/status-page.png")
	require.NoError(t, err)
	t.Setenv("TMPDIR", testenv.XFS(t, 4096))
	o := lab.Options{KernelArgs: []string{"nvme_core.multipath=N"}}
	for i := range uint64(drives) {
		o.Drives = append(o.Drives, lab.Drive{ID: fmt.Sprintf("drive%d", i), SizeBytes: sizeBytes, WrittenRatio: 1, EUI64: 0x5254000000000001 + i})
	}
	m := boot(t, o)
	var all []drive
	for _, d := range o.Drives {
		all = append(all, m.find(t, d.ID))
	}
	worn := all[3]
	m.fly(t, usualFlight)
	m.startDaemon(t, configuration)
	begun := m.explained(t, worn).Time
	testenv.EventuallyWithin(t, 30*time.Minute, time.Second, "hours of all drives", func() bool {
		for _, d := range all {
			x := m.explained(t, d)
			if len(x.Probes) != 1 || x.Probes[0].Maturity != record.Provisional || x.Time.Sub(begun) < 3*time.Hour {
				return false
			}
		}
		return true
	})
	m.limit(t, worn, 60) // the limit allows bursts of a tenth of a second: a higher one lets most of a round pass at once
	var slow time.Time
	testenv.EventuallyWithin(t, 30*time.Minute, time.Second, "the drive has been slow for a while", func() bool {
		x := m.explained(t, worn)
		if slow.IsZero() && x.Verdict != nil && (x.Verdict.Verdict == record.Degraded || x.Verdict.Verdict == record.Severe) {
			slow = x.Time
		}
		return !slow.IsZero() && x.Time.Sub(slow) > 45*time.Minute
	})
	testenv.Chromium(t, m.url, "--blink-settings=preferredColorScheme=1", "--window-size=1200,760", "--screenshot="+picture)
}
