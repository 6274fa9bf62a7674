package labtest_test

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

const (
	nfsMount = "/run/nfs"
	nfsFile  = nfsMount + "/probe"
)

// serverUp starts the kernel's server and does the work of rpc.mountd: through these files the kernel asks for the
// identity of clients and for the exports. It forgets the answers when the server ends. 2412 is fsid, no_subtree_check,
// async and insecure (NFSEXP_… of <linux/nfsd/export.h>). There is no grace period for clients of an earlier server.
const serverUp = `
never=2147483647
echo nfsd 127.0.0.1 $never lab >/proc/net/rpc/auth.unix.ip/channel
echo 'lab 1 \x00000000' $never /run/export >/proc/net/rpc/nfsd.fh/channel
echo lab /run/export $never $((0x2412)) 65534 65534 0 >/proc/net/rpc/nfsd.export/channel
echo 2 >/proc/fs/nfsd/threads
echo Y >/proc/fs/nfsd/v4_end_grace`

const serverDown = "echo 0 >/proc/fs/nfsd/threads"

// mountServer starts an NFS server in the machine, and mounts its export. The mount is hard, which is the default: a call
// lasts until there is an answer.
func mountServer(t *testing.T, m *lab.Machine) {
	t.Helper()
	output(t, m, "sh", "-ec", `
mkdir -p /var/lib/nfs/v4recovery /run/export `+nfsMount+`
mount -t tmpfs export /run/export
mount -t nfsd nfsd /proc/fs/nfsd
echo -2 -3 +4 >/proc/fs/nfsd/versions`+serverUp)
	output(t, m, "mount", "-t", "nfs4", "-o", "hard,vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1", "127.0.0.1:/", nfsMount)
}

// nfsRequests returns how many requests of each kind the machine has sent (Documentation/admin-guide/nfs, "mountstats").
func nfsRequests(t *testing.T, m *lab.Machine) map[string]int {
	t.Helper()
	sent := map[string]int{}
	_, list, found := strings.Cut(output(t, m, "cat", "/proc/self/mountstats"), "per-op statistics\n")
	require.True(t, found)
	for line := range strings.Lines(list) {
		if name, counts, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			first, _, _ := strings.Cut(counts, " ")
			n, err := strconv.Atoi(first)
			require.NoError(t, err, line)
			sent[name] = n
		}
	}
	return sent
}

// testServerGone tests a probe file on NFS whose server ends and comes back. Nothing else may be affected.
func testServerGone(t *testing.T, m *lab.Machine) {
	mountServer(t, m)
	stays := identity(t, m, mirror0)
	config := configuration(t, m, 0, soonHung+watching(stays)+"files: [{path: "+nfsFile+", size: 16MiB}]\nfill_rate: 64MiB\n")
	id := "file:" + nfsFile
	up := labels{"id": id}

	d := startDaemon(t, m, config)
	d.awaitRounds(t, id, "ok", 2)
	d.awaitRounds(t, stays, "ok", 1)

	// A round asks the server for nothing but to open, read and close the file. While another request waits for a server
	// that is gone, the file is open and nothing is being read: such a process cannot end, not even by SIGKILL.
	before := nfsRequests(t, m)
	d.awaitRounds(t, id, "ok", 3)
	after := nfsRequests(t, m)
	assert.Greater(t, after["OPEN"]+after["OPEN_NOATTR"], before["OPEN"]+before["OPEN_NOATTR"])
	assert.Greater(t, after["READ"], before["READ"])
	assert.Equal(t, before["GETATTR"], after["GETATTR"])

	output(t, m, "sh", "-ec", serverDown)
	eventually(t, "the file is down", func() bool { return d.scrape(t).must(t, "ssdprobe_target_up", up) == 0 })
	d.awaitRounds(t, stays, "ok", 3)
	assert.Equal(t, 1.0, d.scrape(t).must(t, "ssdprobe_target_up", labels{"id": stays}))
	d.hasOneHungThreadAtMost(t, m)

	// The daemon has the file open, but the search for writers to a drive must not ask the server about it.
	assert.Contains(t, destroy(t, m, disk(t, m, victim).Node(), "another"), "its serial number is victim")
	run, err := m.StartProcess(bounded(t), "ssdprobe", "run", "--target", nfsFile, "--config", config)
	require.NoError(t, err)
	eventually(t, "it hangs", func() bool { return hungThreads(t, m, run.PID) > 0 })
	require.NoError(t, run.Signal(bounded(t), syscall.SIGINT))
	ended, err := run.Wait(bounded(t))
	require.NoError(t, err)
	assert.NotZero(t, ended.ExitCode, "%+v", ended)
	d.stop(t)

	// A daemon that starts without the server watches the rest, and the file once the server is back.
	d = startDaemon(t, m, config)
	d.awaitRounds(t, stays, "ok", 2)
	assert.Zero(t, d.scrape(t).must(t, "ssdprobe_target_up", up))
	eventually(t, "it is ready", func() bool {
		code, body := d.get(t, "-/ready")
		return code == http.StatusOK && assert.Contains(t, body, nfsFile)
	})
	output(t, m, "sh", "-ec", serverUp)
	d.awaitRounds(t, id, "ok", 2)
	assert.Equal(t, 1.0, d.scrape(t).must(t, "ssdprobe_target_up", up))
	d.stop(t)
	output(t, m, "umount", nfsMount)
}
