package lab_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// TestOneNode tests what differs in a machine without NUMA nodes: its drives are plugged in by ACPI, not by PCIe.
func TestOneNode(t *testing.T) {
	m := lab.Start(t, lab.Options{
		Drives: []lab.Drive{
			{ID: plain, SizeBytes: 8 << 20, Faults: []lab.Fault{{Sector: 0}}},
			{ID: dual, SizeBytes: 8 << 20, Controllers: 2, EUI64: 0x5254000000000002},
			{ID: spare, SizeBytes: 8 << 20, Unplugged: true},
		},
		Files:      map[string]string{"/bin/agent": lab.Build(t, "github.com/ssdprobe/ssdprobe/internal/test/lab/agent")},
		KernelArgs: []string{"nvme_core.multipath=N"},
	})
	first := func(id string) int {
		t.Helper()
		result, err := m.Run(bounded(t), "dd", "bs=4096", "count=1", "iflag=direct", "of=/dev/null", "if="+disk(t, m, id).Node())
		require.NoError(t, err)
		return result.ExitCode
	}
	assert.Equal(t, 1, first(plain), "a fault from the start")
	assert.Len(t, disk(t, m, dual).Namespaces, 2, "without multipath each controller has its own")
	for _, id := range []string{plain, dual} {
		require.NoError(t, m.Unplug(bounded(t), id))
	}
	nodes, err := m.Glob(bounded(t), "/dev/nvme*")
	require.NoError(t, err)
	assert.Empty(t, nodes)
	for _, id := range []string{plain, dual, spare} {
		_, err := m.Plug(bounded(t), id)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, first(plain), "the fault is the drive's, not the controller's")
	assert.Zero(t, first(spare))
	for _, namespace := range disk(t, m, dual).Namespaces {
		wwid, err := m.ReadFile(bounded(t), "/sys/block/"+namespace+"/wwid")
		require.NoError(t, err)
		assert.Equal(t, "eui.5254000000000002\n", string(wwid))
	}
	_, err = m.ReadFile(bounded(t), "/bin/agent")
	require.NoError(t, err)
	_, err = m.Disk(bounded(t), "unknown")
	require.ErrorIs(t, err, os.ErrNotExist)
}
