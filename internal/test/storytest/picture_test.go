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

// TestPicture makes the picture of the status page in docs: eight drives of 960 GB, one of which gets slow under the eyes of a
// daemon for which half a minute passes each second. Nothing in it is made up but that clock and the drives' blocks, which are shared.
func TestPicture(t *testing.T) {
	const drives, sizeBytes, blocks = 8, 960_197_124_096, 30
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
	_, err = m.StartProcess(bounded(t), "sh", "-c", fly)
	require.NoError(t, err)
	m.startDaemon(t, configuration)
	for _, d := range all {
		// Written blocks are looked for in few I/Os of each round.
		testenv.EventuallyWithin(t, 30*time.Minute, time.Second, "plots of all drives", func() bool {
			x := m.explained(t, d)
			return len(x.Probes) == 1 && len(x.Probes[0].Recent) >= blocks
		})
	}
	m.limit(t, worn, 400)
	await(t, "the drive is slow", func() bool {
		for _, s := range m.explain(t, worn).Statistics {
			if s.Statistic == record.LatencyP50 {
				return s.State == record.Regressed
			}
		}
		return false
	})
	slow := len(m.explain(t, worn).Recent)
	await(t, "it has been for a while", func() bool { return len(m.explain(t, worn).Recent) >= min(36, slow+6) })
	testenv.Chromium(t, m.url, "--blink-settings=preferredColorScheme=1", "--window-size=1200,760", "--screenshot="+picture)
}
