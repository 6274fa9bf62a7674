package safety_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// holder compiles testdata/holder.c. It is written in C because Go would need unsafe, and a C compiler is installed
// wherever the race detector runs.
func holder(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "holder")
	run(t, "cc", "-Wall", "-pthread", "-o", program, "testdata/holder.c")
	return program
}

// while runs a program until it prints that it is ready, calls does, and ends the program by closing its standard
// input.
func while(t *testing.T, cmd *exec.Cmd, does func()) {
	t.Helper()
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	require.NoError(t, errors.Join(errIn, errOut, cmd.Start()))
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, line)
	does()
	require.NoError(t, stdin.Close())
	_ = cmd.Wait() // a shell's read fails at the end of its input
}

func permitted(t *testing.T, path string) {
	t.Helper()
	d, err := device.Find(sysfs.FS{}, path)
	require.NoError(t, err)
	_, err = safety.Permit(t.Context(), sysfs.FS{}, path, d, safety.Name(d))
	require.NoError(t, err)
}

// A process can write to a device without a descriptor.
func TestRefusesWhatIsHeldWithoutADescriptor(t *testing.T) {
	loop, d := drive(t)
	program := holder(t)
	for how, says := range map[string]string{
		"map":    "(holder) has mapped " + loop.Path + " for writing",
		"uring":  "(holder) may write to " + loop.Path + " through io_uring",
		"thread": "(holder) has " + loop.Path + " open for writing",
		// Its first thread has ended, and with it the kernel's list of mapped files.
		"orphan": "(holder) may write to " + loop.Path + " through a shared mapping",
	} {
		t.Run(how, func(t *testing.T) {
			while(t, exec.CommandContext(t.Context(), program, how, loop.Path), func() {
				refused(t, loop, d, safety.Name(d), safety.KindProcess, says)
			})
			permitted(t, loop.Path)
		})
	}
}

// A ring with room for files but without any file is harmless.
func TestPermitsBesideARingWithoutFiles(t *testing.T) {
	loop, _ := drive(t)
	while(t, exec.CommandContext(t.Context(), holder(t), "sparse", loop.Path), func() { permitted(t, loop.Path) })
}

// A process that writes to a member of a device writes to the device.
func TestRefusesWhileAMemberIsWrittenTo(t *testing.T) {
	member, _ := drive(t)
	above := testenv.Losetup(t, "--find", "--show", member.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", above) })
	d, err := device.Find(sysfs.FS{}, above)
	require.NoError(t, err)
	while(t, exec.CommandContext(t.Context(), "sh", "-c", `exec 3<>"$0"; echo ready; read line`, member.Path), func() {
		refused(t, testenv.Loop{Path: above, Backing: member.Backing}, d, safety.Name(d), safety.KindProcess, "(sh) has "+member.Path+" open for writing")
	})
	permitted(t, above)
}

// The file below a loop device can be written to directly.
func TestRefusesWhatElseWritesToTheFileBelow(t *testing.T) {
	loop, d := drive(t)
	below := loop.Backing + ", of which " + loop.Path + " is made,"
	t.Run("by a process", func(t *testing.T) {
		while(t, exec.CommandContext(t.Context(), "sh", "-c", `exec 3<>"$0"; echo ready; read line`, loop.Backing), func() {
			refused(t, loop, d, safety.Name(d), safety.KindProcess, "(sh) has "+below+" open for writing")
		})
		permitted(t, loop.Path)
	})
	program := holder(t)
	for _, how := range []string{"map", "uring"} {
		t.Run("by "+how, func(t *testing.T) {
			while(t, exec.CommandContext(t.Context(), program, how, loop.Backing), func() {
				refused(t, loop, d, safety.Name(d), safety.KindProcess, below)
			})
		})
	}
	t.Run("by another loop device", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "another name")
		require.NoError(t, os.Link(loop.Backing, link))
		twin := testenv.Losetup(t, "--find", "--show", link)
		refused(t, loop, d, safety.Name(d), safety.KindHolder, "the loop device "+twin+" is made of "+below+" too")
		testenv.Losetup(t, "--detach", twin)
		permitted(t, loop.Path)
	})
}

// A loop device is asked for its backing file: a removed name hides nothing.
func TestRefusesWhatALoopDeviceWasMadeOfByAnotherName(t *testing.T) {
	loop, d := drive(t)
	other := filepath.Join(t.TempDir(), "node")
	var st unix.Stat_t
	require.NoError(t, unix.Stat(loop.Path, &st))
	require.NoError(t, unix.Mknod(other, unix.S_IFBLK|0o600, int(st.Rdev)))
	above := testenv.Losetup(t, "--find", "--show", other)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", above) })
	require.NoError(t, os.Remove(other))
	refused(t, loop, d, safety.Name(d), safety.KindHolder, "the loop device "+above+" is made of "+loop.Path)
}

// machine returns the files of a machine with only one loop device, and more files.
func machine(t *testing.T, loop testenv.Loop, more map[string]string) sysfs.FS {
	t.Helper()
	name := filepath.Base(loop.Path)
	dir := "sys/devices/virtual/block/" + name
	files := map[string]string{
		dir + "/dev": loop.Number + "\n", dir + "/size": "32768\n", dir + "/loop/backing_file": loop.Backing + "\n",
		dir + "/queue/logical_block_size": "512\n", dir + "/queue/physical_block_size": "512\n",
		"proc/swaps": "Filename Type Size Used Priority\n",
	}
	for file, text := range more {
		files[file] = text
	}
	return sysfstest.Make(t, files, map[string]string{
		"sys/block/" + name: "/" + dir, "sys/class/block/" + name: "/" + dir, "sys/dev/block/" + loop.Number: "/" + dir,
	})
}

// verdict returns the result for a loop device on a machine with these files.
func verdict(t *testing.T, loop testenv.Loop, files map[string]string) error {
	t.Helper()
	fs := machine(t, loop, files)
	d, err := device.Find(fs, loop.Number)
	require.NoError(t, err)
	_, err = safety.Permit(t.Context(), fs, loop.Path, d, safety.Name(d))
	return err
}

// The files are as Linux 6.1 writes them; the laboratory tests real ones of nvmet and LIO.
func TestExports(t *testing.T) {
	loop, _ := drive(t)
	link := filepath.Join(t.TempDir(), "by id")
	require.NoError(t, os.Symlink(loop.Path, link))
	major, minor, _ := strings.Cut(loop.Number, ":")
	const nvmet, core, gadget = "sys/kernel/config/nvmet/subsystems/nqn.x/", "sys/kernel/config/target/core/", "sys/kernel/config/usb_gadget/g1/functions/mass_storage.0/"
	const none = "/dev/null"
	for name, c := range map[string]struct {
		files map[string]string
		says  string // empty if it may be overwritten
	}{
		"nvmet":               {map[string]string{nvmet + "namespaces/1/device_path": link + "\n", nvmet + "namespaces/1/enable": "1\n"}, "nvmet) exports " + loop.Path + " (/sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1)"},
		"nvmet, its file":     {map[string]string{nvmet + "namespaces/1/device_path": loop.Backing + "\n", nvmet + "namespaces/1/enable": "1\n"}, "nvmet) exports " + loop.Backing},
		"nvmet, disabled":     {map[string]string{nvmet + "namespaces/1/device_path": link + "\n", nvmet + "namespaces/1/enable": "0\n"}, ""},
		"nvmet, another":      {map[string]string{nvmet + "namespaces/1/device_path": none + "\n", nvmet + "namespaces/1/enable": "1\n"}, ""},
		"nvmet, unresolved":   {map[string]string{nvmet + "namespaces/1/device_path": "/dev/gone\n", nvmet + "namespaces/1/enable": "1\n"}, "exports /dev/gone, which cannot be examined"},
		"nvmet, no passthru":  {map[string]string{nvmet + "passthru/device_path": "(null)\n", nvmet + "passthru/enable": "0\n"}, ""},
		"iblock":              {map[string]string{core + "iblock_0/x/enable": "1\n", core + "iblock_0/x/info": "Status: ACTIVATED\n        iBlock device: x  UDEV PATH: " + none + "  readonly: 0\n        Major: " + major + " Minor: " + minor + "  CLAIMED: IBLOCK\n"}, "LIO) exports " + loop.Path},
		"fileio":              {map[string]string{core + "fileio_0/x/enable": "1\n", core + "fileio_0/x/info": "Status: ACTIVATED\n        TCM FILEIO ID: 0        File: " + link + "  Size: 16777216  Mode: O_DSYNC Async: 0\n"}, "LIO) exports " + loop.Path},
		"fileio, disabled":    {map[string]string{core + "fileio_0/x/enable": "0\n"}, ""},
		"a backstore":         {map[string]string{core + "user_0/x/enable": "1\n", core + "user_0/x/info": "Status: ACTIVATED\n", core + "user_0/x/udev_path": link + "\n"}, "LIO) exports " + loop.Path},
		"no backstore":        {map[string]string{core + "iblock_0/hba_info": "HBA Index: 0\n"}, ""},
		"memory":              {map[string]string{core + "rd_mcp_0/x/enable": "1\n", core + "rd_mcp_0/x/info": "Status: ACTIVATED\n", core + "rd_mcp_0/x/udev_path": "\n"}, ""},
		"a gadget":            {map[string]string{gadget + "lun.0/file": link + "\n"}, "a USB gadget exports " + loop.Path},
		"a gadget without":    {map[string]string{gadget + "lun.0/file": "\n"}, ""},
		"nvmet out of sight":  {map[string]string{"sys/module/nvmet/refcnt": "2\n"}, "nvmet) exports: run mount -t configfs none /sys/kernel/config"},
		"nvmet in the kernel": {map[string]string{"sys/module/nvmet/parameters/x": "\n"}, "nvmet) exports: run mount"},
		"LIO out of sight":    {map[string]string{"sys/module/target_core_mod/refcnt": "3\n"}, "LIO) exports: run mount"},
		"modules in the way":  {map[string]string{"sys/module/nvmet/refcnt": "1\n", "sys/module/nvmet/holders/nvmet_tcp/refcnt": "0\n"}, ""},
		"modules and an item": {map[string]string{"sys/module/nvmet/refcnt": "2\n", "sys/module/nvmet/holders/nvmet_tcp/refcnt": "0\n"}, "nvmet) exports: run mount"},
		"modules not in use":  {map[string]string{"sys/module/nvmet/refcnt": "0\n", "sys/module/target_core_mod/refcnt": "0\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := verdict(t, loop, c.files)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, safety.ErrRefused)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Something that does not answer is a reason not to write, and is reported. A caller that does not want to wait can
// cancel.
func TestWhatDoesNotAnswer(t *testing.T) {
	loop, _ := drive(t)
	remote := testenv.RemoteFile(t)
	remote.FallSilent()
	for name, files := range map[string]map[string]string{
		"a loop device": {"sys/block/loop4711/loop/backing_file": remote.Path + "\n"},
		"an export": {
			"sys/kernel/config/nvmet/subsystems/x/namespaces/1/device_path": remote.Path + "\n",
			"sys/kernel/config/nvmet/subsystems/x/namespaces/1/enable":      "1\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := verdict(t, loop, files)
			require.ErrorIs(t, err, safety.ErrRefused)
			require.ErrorContains(t, err, remote.Path)
			require.ErrorContains(t, err, "does not answer, and while it hangs, nobody knows what uses the device")
		})
	}
}

// The kernel names no file while a loop device is being detached, and its node may be gone by then. What is attached and
// cannot be seen is another matter.
func TestALoopDeviceThatIsDetachedMeanwhile(t *testing.T) {
	loop, _ := drive(t)
	require.NoError(t, verdict(t, loop, map[string]string{"sys/block/loop4711/loop/backing_file": ""}))
	err := verdict(t, loop, map[string]string{"sys/block/loop4711/loop/backing_file": "/nowhere/disk.img\n"})
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "cannot see what the loop device /dev/loop4711 is made of (/nowhere/disk.img, ")
}

func TestPermitEndsWithItsContext(t *testing.T) {
	loop, _ := drive(t)
	remote := testenv.RemoteFile(t)
	remote.FallSilent()
	fs := machine(t, loop, map[string]string{"sys/block/loop4711/loop/backing_file": remote.Path + "\n"})
	d, err := device.Find(fs, loop.Number)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	ended := make(chan error, 1)
	go func() {
		_, err := safety.Permit(ctx, fs, loop.Path, d, safety.Name(d))
		ended <- err
	}()
	testenv.Eventually(t, "it hangs", remote.Asked)
	cancel(interrupted)
	err = <-ended
	require.ErrorIs(t, err, interrupted)
	require.NotErrorIs(t, err, safety.ErrRefused, fmt.Sprint(err))
}

// Commands can also reach a SCSI disk by other nodes. Terminals that nobody else has open stand in for those.
func TestRefusesWhoHasTheNodesOfASCSIDisk(t *testing.T) {
	loop, _ := drive(t)
	dir := "sys/devices/virtual/block/" + filepath.Base(loop.Path) + "/device/"
	for file, says := range map[string]string{"scsi_generic/sg7/dev": "/dev/sg7", "bsg/0:0:0:0/dev": "/dev/bsg/0:0:0:0"} {
		t.Run(says, func(t *testing.T) {
			person, terminal := testenv.Terminal(t, 80)
			t.Cleanup(func() { require.NoError(t, person.Close()) })
			require.NoError(t, terminal.Close())
			node := terminal.Name()
			files := map[string]string{dir + file: testenv.DeviceNumber(t, node) + "\n"}
			while(t, exec.CommandContext(t.Context(), "sh", "-c", `exec 3<"$0"; echo ready; read line`, node), func() {
				require.NoError(t, verdict(t, loop, files), "smartd reads")
			})
			while(t, exec.CommandContext(t.Context(), "sh", "-c", `exec 3<>"$0"; echo ready; read line`, node), func() {
				require.ErrorContains(t, verdict(t, loop, files), "(sh) has "+says+" open for writing")
			})
		})
	}
}

// Users of a device come first in the list, and no cure is suggested while something is mounted.
func TestUsersComeFirst(t *testing.T) {
	e := &safety.RefusedError{Path: "/dev/sdb", Found: []safety.Finding{
		{Kind: safety.KindExclusive, Text: "held"}, {Kind: safety.KindSerial, Text: "no serial"},
		{Kind: safety.KindSignature, Text: "there is XFS on it", Cure: "wipefs -a /dev/sdb"}, {Kind: safety.KindMount, Text: "mounted at /srv"},
	}}
	assert.Equal(t, []string{"mounted at /srv", "no serial", "there is XFS on it"}, e.List())
	require.EqualError(t, e, "refused to write to /dev/sdb: mounted at /srv; no serial; there is XFS on it")
	e.Found = e.Found[:3]
	assert.Equal(t, []string{"held", "no serial", "there is XFS on it"}, e.List())
	e.Found = e.Found[1:3]
	assert.Equal(t, []string{"no serial", "there is XFS on it: wipefs -a /dev/sdb"}, e.List())
}
