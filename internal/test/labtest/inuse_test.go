package labtest_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// buildHolder compiles a program that holds a device without a descriptor, statically for any machine.
func buildHolder(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "holder")
	out, err := exec.CommandContext(t.Context(), "cc", "-static", "-pthread", "-o", program, "../../safety/testdata/holder.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// testInUse tries to overwrite a drive that others use in ways that are no holder to the kernel,
// and that do not prevent opening it exclusively.
func testInUse(t *testing.T, m *lab.Machine) {
	drive := disk(t, m, spare)
	node := drive.Node()
	controller := drive.Controllers[0]
	generic := "/dev/ng" + drive.Namespaces[0][len("nvme"):]
	output(t, m, "sh", "-c", "grep -q configfs /proc/mounts || mount -t configfs configfs /sys/kernel/config")
	sum := output(t, m, "sha256sum", node)
	type use struct {
		name, use, release string
		holds              string // instead of use: a process, which prints when it is ready
		says               string
	}
	uses := []use{
		{
			name: "exported by nvmet", says: "the kernel's NVMe target (nvmet) exports " + node,
			use: "mkdir -p " + servedNamespace + "; ln -s " + node + " /tmp/link; echo -n /tmp/link >" + servedNamespace + "/device_path; echo 1 >" + servedNamespace + "/enable",
			// When disabled it is not in use, though it is still in configfs.
			release: "echo 0 >" + servedNamespace + "/enable",
		},
		{
			name: "nvmet cannot be seen", says: "cannot see what the kernel's NVMe target (nvmet) exports: run mount -t configfs",
			use: "echo 1 >" + servedNamespace + "/enable; umount /sys/kernel/config",
			release: "mount -t configfs configfs /sys/kernel/config; echo 0 >" + servedNamespace + "/enable; rmdir " +
				servedNamespace + " " + servedSubsystem,
		},
		{
			name: "exported by LIO as a block device", says: "the kernel's SCSI target (LIO) exports " + node,
			use: "mkdir -p " + backstores + "/iblock_0/lab; echo udev_path=" + node + " >" + backstores + "/iblock_0/lab/control; echo 1 >" +
				backstores + "/iblock_0/lab/enable",
			release: "rmdir " + backstores + "/iblock_0/lab " + backstores + "/iblock_0",
		},
		{
			name: "exported by LIO as a file", says: "the kernel's SCSI target (LIO) exports " + node,
			use: "mkdir -p " + backstores + "/fileio_0/lab; echo fd_dev_name=/tmp/link,fd_dev_size=1048576 >" + backstores +
				"/fileio_0/lab/control; echo 1 >" + backstores + "/fileio_0/lab/enable",
			release: "rmdir " + backstores + "/fileio_0/lab " + backstores + "/fileio_0",
		},
		{name: "its generic node", holds: opening(generic), says: "(sh) has " + generic + " open for writing"},
		{name: "its controller", holds: opening("/dev/" + controller), says: "(sh) has /dev/" + controller + " open for writing"},
		{name: "mapped", holds: "holder map " + node, says: "(holder) has mapped " + node + " for writing"},
		{name: "registered with io_uring", holds: "holder uring " + node, says: "(holder) may write to " + node + " through io_uring"},
	}
	args := []string{"run", "mixed", "-t", node, "--destroy", "SPARE", "--even-if-busy", "--set", "engines=libaio", "--set", "time=300ms"}
	dryRun := append(slices.Clone(args), "--dry-run")
	for i, c := range uses {
		t.Run(c.name, func(t *testing.T) {
			var holder *lab.Process
			if c.holds != "" {
				var err error
				holder, err = m.StartProcess(bounded(t), "sh", "-c", "sleep 1000 | "+c.holds)
				require.NoError(t, err)
				_, err = holder.AwaitLine(bounded(t), "ready")
				require.NoError(t, err)
			} else {
				output(t, m, "sh", "-ec", c.use)
			}
			refused := ssdprobe(t, m, nil, args...)
			assert.Equal(t, 4, refused.ExitCode, refused.Stderr)
			assert.Contains(t, refused.Stderr, c.says)
			for k, released := range uses[:i] {
				assert.False(t, released.says != c.says && strings.Contains(refused.Stderr, released.says), "use %d was released", k)
			}
			if i == len(uses)-1 { // a dry run checks the same for all of them
				foreseen := ssdprobe(t, m, nil, dryRun...)
				assert.Contains(t, foreseen.Stdout, "would be refused: "+node+": ", foreseen.Stderr)
				assert.Contains(t, foreseen.Stdout, c.says)
			}
			if holder != nil {
				require.NoError(t, holder.SignalGroup(bounded(t), syscall.SIGKILL))
				_, err := holder.Wait(bounded(t))
				require.NoError(t, err)
			} else {
				output(t, m, "sh", "-ec", c.release)
			}
		})
	}
	assert.NotContains(t, ssdprobe(t, m, nil, dryRun...).Stdout, "would be refused", "all are released")
	assert.Equal(t, sum, output(t, m, "sha256sum", node), "nothing was written")
}

const backstores = "/sys/kernel/config/target/core"

// opening returns a shell command that holds a node open for reading and writing until its input ends.
func opening(node string) string { return "sh -c 'exec 3<>" + node + "; echo ready; read line'" }
