package labtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testUnprivileged runs the daemon as a user who may read two block devices.
func testUnprivileged(t *testing.T, m *lab.Machine) {
	const nobody, capSysAdmin = 65534, 21
	const unread = "the health of drives cannot be read"
	drives := []string{plain, half}
	var ids []string
	// give gives the user access to the drives' nodes by group, as udev's rules do.
	give := func(nodes func(lab.Disk) string, mode string) {
		t.Helper()
		for _, drive := range drives {
			node := nodes(disk(t, m, drive))
			output(t, m, "chgrp", "65534", node)
			output(t, m, "chmod", mode, node)
			t.Cleanup(func() {
				_, err := m.Output(afterwards(t), "sh", "-c", "chgrp 0 "+node+"; chmod 600 "+node)
				assert.NoError(t, err)
			})
		}
	}
	for _, drive := range drives {
		ids = append(ids, identity(t, m, drive))
	}
	give(lab.Disk.Node, "640")
	start := func(capabilities ...uintptr) daemon {
		t.Helper()
		return startDaemonAs(t, m, lab.Command{UID: nobody, GID: nobody, Capabilities: capabilities},
			configuration(t, m, nobody, everySecond+watching(ids...)))
	}
	// probing checks that probes work fully, and that readings of the health all fail or all succeed.
	probing := func(d daemon, success float64) {
		t.Helper()
		d.awaitRoundsOfAll(t, ids, "ok", 2)
		for _, id := range ids {
			eventually(t, "its health was read", func() bool { // a slow reading is not waited for
				got, read := d.scrape(t).value(t, "ssdprobe_collector_success", labels{"id": id, "collector": "health"})
				return read && got == success
			})
		}
		if success == 0 {
			assert.NotContains(t, d.scrape(t), "ssdprobe_nvme_critical_warning", "absent, not 0")
			assert.Equal(t, 1, d.countLog(t, unread), "said once, not of each drive and reading")
		} else {
			eventually(t, "all have entries", func() bool {
				return len(d.scrape(t)["ssdprobe_nvme_error_log_entries_total"].GetMetric()) == len(drives)
			})
			assert.Zero(t, d.countLog(t, unread))
		}
		assert.Contains(t, d.scrape(t), "ssdprobe_nvme_interrupts_total", "anybody may read those")
		d.stop(t)
	}

	d := start()
	assert.Contains(t, d.awaitLog(t, unread), "no permission to open the controller's node")
	probing(d, 0)

	give(func(d lab.Disk) string { return "/dev/" + d.Controllers[0] }, "660")
	shown, err := m.RunCommand(bounded(t), lab.Command{
		UID: nobody, GID: nobody, Args: []string{"ssdprobe", "smart", disk(t, m, plain).Node()}, Env: []string{"HOME=/tmp"},
	})
	require.NoError(t, err)
	assert.Equal(t, 1, shown.ExitCode)
	assert.Contains(t, shown.Stderr, "CAP_SYS_ADMIN")
	d = start()
	assert.Contains(t, d.awaitLog(t, unread), "CAP_SYS_ADMIN")
	probing(d, 0)

	probing(start(capSysAdmin), 1)
}
