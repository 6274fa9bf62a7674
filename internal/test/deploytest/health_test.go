package deploytest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// A drive whose rated endurance is used has a tile of its own. Nothing about that is critical.
func TestAUsedEnduranceIsNoCriticalWarning(t *testing.T) {
	var e exposition
	for n, readOnly := range []float64{0, 1} {
		of := ofDrive(n) + `,controller="nvme0",condition=`
		e.add("ssdprobe_nvme_critical_warning", of+`"read_only"`, readOnly)
		e.add("ssdprobe_nvme_critical_warning", of+`"rated_endurance"`, 1)
	}
	s := promtest.StartWith(t, e.text())
	tile := panelOf(t, "device", "Health of an NVMe drive", "Critical warnings").Queries[0].Expr
	for id, want := range map[string]string{"eui.0": "0", "eui.1": "1"} {
		found := s.Query(t, e.at, choose(tile, map[string]string{"instance": "stor-1", "id": id}))
		require.Len(t, found, 1)
		assert.Equal(t, want, found[0].Value[1])
	}
}
