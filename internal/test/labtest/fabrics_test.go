package labtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// remoteDrive is an NVMe drive behind a network inside the machine: the kernel's target serves a device over TCP, and the
// kernel's driver connects to it. Its namespace can change its size, which QEMU's cannot. If the driver gives up on it,
// nothing else hangs.
type remoteDrive struct {
	m          *lab.Machine
	name       string // of the namespace: "nvme11n1"
	controller string // "nvme11"
	id         string
}

const (
	nqn             = "nqn.2026-01.test:lab"
	nvmet           = "/sys/kernel/config/nvmet"
	servedSubsystem = nvmet + "/subsystems/" + nqn
	servedNamespace = servedSubsystem + "/namespaces/1"
	servedPort      = nvmet + "/ports/1"
)

// serve exports a device as a drive and connects to it.
func serve(t *testing.T, m *lab.Machine, node string) remoteDrive {
	t.Helper()
	script := strings.NewReplacer("SUBSYSTEM", servedSubsystem, "NAMESPACE", servedNamespace, "PORT", servedPort, "NODE", node, "NQN", nqn)
	t.Cleanup(func() { // even if only half of it was created, or it hangs
		_, err := m.Output(afterwards(t), "sh", "-c", script.Replace(`
dmsetup resume lab
failed=0
nvme disconnect -n NQN || failed=1
rm PORT/subsystems/NQN || failed=1
echo 0 >NAMESPACE/enable || failed=1
rmdir PORT NAMESPACE SUBSYSTEM || failed=1
exit $failed`))
		assert.NoError(t, err)
	})
	output(t, m, "sh", "-ec", script.Replace(`
grep -q configfs /proc/mounts || mount -t configfs configfs /sys/kernel/config
mkdir SUBSYSTEM NAMESPACE PORT
echo 1 >SUBSYSTEM/attr_allow_any_host
echo -n NODE >NAMESPACE/device_path
echo 1 >NAMESPACE/enable
cd PORT
echo ipv4 >addr_adrfam
echo tcp >addr_trtype
echo 127.0.0.1 >addr_traddr
echo 4420 >addr_trsvcid
ln -s SUBSYSTEM subsystems/`))
	output(t, m, "nvme", "connect", "-t", "tcp", "-a", "127.0.0.1", "-s", "4420", "-n", nqn)
	d := remoteDrive{m: m}
	eventually(t, "the namespace", func() bool {
		for name, row := range devices(t, m) {
			if row.Device.Transport == "tcp" {
				d.name, d.id = name, row.Device.ID
			}
		}
		return d.name != ""
	})
	d.controller, _, _ = strings.Cut(d.name, "n1")
	return d
}

// resize notifies the drive that its device has another size now.
func (d remoteDrive) resize(t *testing.T) {
	t.Helper()
	require.NoError(t, d.m.WriteFile(bounded(t), servedNamespace+"/revalidate_size", []byte("1"), 0))
}

// state returns the driver's state of the controller, such as live or connecting.
func (d remoteDrive) state(t *testing.T) string {
	t.Helper()
	return text(t, d.m, "/sys/class/nvme", d.controller, "state")
}

// testRemoteDrive tests a drive behind a network whose namespace changes its size, and then hangs for so long that the
// driver drops the connection.
func testRemoteDrive(t *testing.T, m *lab.Machine) {
	device, stays := mapDevice(t, m, half), identity(t, m, plain)
	drive := serve(t, m, device.node())
	row := devices(t, m)[drive.name]
	assert.True(t, row.Watched)
	assert.True(t, slices.ContainsFunc(row.Findings, func(f finding.Finding) bool { return f.Code == record.WarnRemote }),
		"the network is measured too")
	shown := smart(t, m, drive.name)
	require.Len(t, shown, 1)
	require.NotNil(t, shown[0].Controller.Health)
	assert.Nil(t, shown[0].Controller.Health.AvailableSpare, "Linux fills in little of the log")
	assert.Nil(t, shown[0].Controller.Health.PercentageUsed)
	assert.Nil(t, shown[0].Controller.Health.MediaErrors)
	require.NotNil(t, shown[0].Controller.Health.HostReadCommands)
	assert.Positive(t, *shown[0].Controller.Health.HostReadCommands)

	d := startDaemon(t, m, configuration(t, m, 0, soonHung+watching(drive.id, stays)))
	d.awaitRounds(t, drive.id, "ok", 1)
	d.followsSize(t, drive.id, device, func() { drive.resize(t) })

	paths, err := m.Glob(bounded(t), "/sys/block/"+drive.controller+"c*/queue/io_timeout")
	require.NoError(t, err)
	require.Len(t, paths, 1)
	require.NoError(t, m.WriteFile(bounded(t), paths[0], []byte("2000"), 0)) // ms
	device.hang(t)
	eventually(t, "the driver drops the connection", func() bool { return drive.state(t) == "connecting" })
	d.awaitRounds(t, drive.id, "timeout", 1)
	read := labels{"id": drive.id, "collector": "health"}
	eventually(t, "the health cannot be read", func() bool {
		success, ok := d.scrape(t).value(t, "ssdprobe_collector_success", read)
		return ok && success == 0
	})
	eventually(t, "that is said", func() bool { // while it connects, the driver may be live for a moment
		failed := ssdprobe(t, m, nil, "smart", drive.name)
		return failed.ExitCode == 1 && strings.Contains(failed.Stderr, "the driver does not reach the controller")
	})
	d.awaitRounds(t, stays, "ok", 3)
	d.hasOneHungThreadAtMost(t, m)

	device.release(t)
	eventually(t, "it is connected again", func() bool { return drive.state(t) == "live" })
	d.awaitRounds(t, drive.id, "ok", 2)
	eventually(t, "the health can be read again", func() bool {
		return d.scrape(t).must(t, "ssdprobe_collector_success", read) == 1
	})
	d.stop(t)
}
