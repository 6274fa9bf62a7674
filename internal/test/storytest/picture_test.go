//go:build picture

package storytest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// TestPicture makes the picture of the status page in docs: eight drives of 960 GB, one of which
// gets slow while a daemon watches, for which two minutes pass each second: a drive is healthy once
// it was judged for a day. Only that clock is made up, and the drives' blocks, which are shared.
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
	worn := m.find(t, o.Drives[3].ID)
	m.fly(t, 120)
	m.startDaemon(t, configuration)
	testenv.EventuallyWithin(t, time.Hour, 10*time.Second, "all drives and the host are healthy", func() bool {
		_, page := testenv.Get(t, bound, m.url)
		return strings.Count(page, ">healthy</span>") == drives+1 // and the host
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
