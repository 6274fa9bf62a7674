package safety_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// drive returns a loop device with random data, against which no check finds anything.
func drive(t *testing.T) (testenv.Loop, record.Device) {
	t.Helper()
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	return loop, known(t, loop)
}

func known(t *testing.T, loop testenv.Loop) record.Device {
	t.Helper()
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	return d
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

// claimed returns the permission to overwrite a device, and the claim on it.
func claimed(t *testing.T, loop testenv.Loop, d record.Device) (safety.Permission, *safety.Claim) {
	t.Helper()
	p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
	claim, err := p.Claim(t.Context())
	require.NoError(t, err)
	return p, claim
}

// overwrite writes to a device, whoever holds it: this bypasses all checks.
func overwrite(t *testing.T, loop testenv.Loop, data []byte, at int64) {
	t.Helper()
	f, err := os.OpenFile(loop.Path, os.O_WRONLY|unix.O_SYNC, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(data, at)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// content returns the checksum of a device's content.
func content(t *testing.T, loop testenv.Loop) [sha256.Size]byte {
	t.Helper()
	f, err := os.Open(loop.Backing)
	require.NoError(t, err)
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	require.NoError(t, err)
	return [sha256.Size]byte(h.Sum(nil))
}

// refused checks that the device is refused for the given reason and remains unchanged.
func refused(t *testing.T, loop testenv.Loop, d record.Device, typed string, kind safety.Kind, text string) {
	t.Helper()
	before := content(t, loop)
	p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, typed)
	require.ErrorIs(t, err, safety.ErrRefused)
	assert.Equal(t, safety.Permission{}, p)
	var refusal *safety.RefusedError
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, loop.Path, refusal.Path)
	named := false
	for _, f := range refusal.Found {
		named = named || f.Kind == kind && strings.Contains(f.Text, text)
	}
	assert.True(t, named, "%s %q is not in: %v", kind, text, err)
	assert.Equal(t, before, content(t, loop), "the device was changed")
}

func TestPermit(t *testing.T) {
	loop, d := drive(t)
	before := content(t, loop)
	p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
	assert.True(t, p.Covers(loop.Path, loop.Number))
	assert.False(t, p.Covers(loop.Path, "7:4711"))
	assert.False(t, p.Covers("/dev/other", loop.Number))
	assert.False(t, safety.Permission{}.Covers("", ""))
	_, err = safety.Permission{}.Claim(t.Context())
	require.ErrorIs(t, err, safety.ErrRefused)

	claim, err := p.Claim(t.Context())
	require.NoError(t, err)
	require.NoError(t, claim.Check(t.Context()))
	_, err = os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
	require.ErrorIs(t, err, unix.EBUSY, "others are kept away")
	_, err = p.Claim(t.Context())
	require.ErrorIs(t, err, safety.ErrRefused)
	require.NoError(t, claim.Close())
	assert.Equal(t, before, content(t, loop))
}

func TestRefusesTheWrongSerial(t *testing.T) {
	loop, d := drive(t)
	refused(t, loop, d, "", safety.KindSerial, "nobody has named it by its serial number")
	refused(t, loop, d, "S6XYNG0T", safety.KindSerial, "its serial number is "+safety.Name(d)+", and S6XYNG0T was named")
	assert.Equal(t, "SN1", safety.Name(record.Device{ID: "eui.1", Serial: "SN1"}))
}

func TestRefusesReadOnly(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true, ReadOnly: true})
	d := known(t, loop)
	refused(t, loop, d, safety.Name(d), safety.KindReadOnly, "it is read-only")
}

func TestRefusesSignatures(t *testing.T) {
	loop, d := drive(t)
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"a filesystem": {[]string{"mkfs.ext4", "-q", "-F", loop.Path}, "there is ext2, ext3 or ext4 on it (at byte 1080)"},
		"swap space":   {[]string{"mkswap", "-f", loop.Path}, "there is swap space on it (at byte 4086)"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, c.command[0], c.command[1:]...)
			refused(t, loop, d, safety.Name(d), safety.KindSignature, c.want)
			_, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d), safety.UnknownData)
			require.ErrorIs(t, err, safety.ErrRefused, "it is no unknown data")
			run(t, "wipefs", "-q", "-a", loop.Path)
			refused(t, loop, d, safety.Name(d), safety.KindUnknownData, "sampled blocks are neither blank nor random")
			_, err = safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d), safety.UnknownData)
			require.NoError(t, err, "wiped, it may be written to by who says so")
			run(t, "blkdiscard", loop.Path)
			_, err = safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
			require.NoError(t, err, "blank, it may be written to")
		})
	}
}

// Data that is neither blank nor random may belong to somebody, whatever its format.
func TestRefusesUnknownData(t *testing.T) {
	for name, command := range map[string]string{
		"text":     `yes "a line of somebody's notes" | head -c 100000 | dd of=%s bs=1000 seek=5000 conv=notrunc`,
		"tar":      `tar -cf %s .`,
		"a number": `printf 1 | dd of=%s bs=1 seek=1000000 conv=notrunc`,
	} {
		t.Run(name, func(t *testing.T) {
			loop := testenv.LoopDevice(t, 16*mib, testenv.Options{})
			d := known(t, loop)
			_, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
			require.NoError(t, err, "blank")
			run(t, "sh", "-c", strings.ReplaceAll(command, "%s", loop.Path))
			refused(t, loop, d, safety.Name(d), safety.KindUnknownData, "it has data of no known format")
			p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d), safety.UnknownData)
			require.NoError(t, err)
			claim, err := p.Claim(t.Context())
			require.NoError(t, err, "the consent is part of the permission")
			require.NoError(t, claim.Check(t.Context()))
			require.NoError(t, claim.Close())
		})
	}
}

// What a run writes while it holds the device is its own, whatever it looks like.
func TestWhatIsWrittenUnderAClaimIsNoUnknownData(t *testing.T) {
	loop, d := drive(t)
	p, claim := claimed(t, loop, d)
	overwrite(t, loop, []byte(strings.Repeat("deadbeef", 512)), mib/2)
	require.NoError(t, claim.Check(t.Context()))
	require.NoError(t, claim.Close())
	_, err := p.Claim(t.Context())
	require.ErrorContains(t, err, "data of no known format", "the next run asks again")
}

// blkid and wipefs know more formats: here, a FAT without its usual label.
func TestAsksUtilLinux(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{})
	d := known(t, loop)
	image := filepath.Join(t.TempDir(), "image")
	run(t, "sh", "-c", "truncate -s 16M "+image+" && mkfs.vfat -F 16 "+image+" && printf '        ' | dd of="+image+" bs=1 seek=54 conv=notrunc"+
		" && dd if="+image+" of="+loop.Path+" bs=1M")
	f, err := os.Open(loop.Path)
	require.NoError(t, err)
	ours, err := safety.Signatures(f, 16*mib)
	require.NoError(t, errors.Join(err, f.Close()))
	require.Empty(t, ours, "it is not known here")
	refused(t, loop, d, safety.Name(d), safety.KindSignature, "there is vfat as wipefs says on it (at byte 0)")
}

// An installed program that fails is a reason to refuse.
func TestRefusesWhenUtilLinuxCannotLook(t *testing.T) {
	loop, d := drive(t)
	for name, script := range map[string]string{
		"it cannot open the device":  "echo >&2 wipefs: error: /dev/x: Input/output error; exit 1",
		"it says what nobody expect": "echo signature found",
		"it is killed":               "kill -KILL $$",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "wipefs"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			refused(t, loop, d, safety.Name(d), safety.KindBlind, "wipefs cannot examine it: ")
		})
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "blkid"), []byte("#!/bin/sh\nexit 8\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	refused(t, loop, d, safety.Name(d), safety.KindSignature, "there is more than one format as blkid says on it")
}

// Without util-linux, only this package's marks are checked; the permission and the refusal say so.
func TestWithoutUtilLinux(t *testing.T) {
	const given = "SSDPROBE_TEST_WITHOUT"
	const note = "wipefs and blkid of util-linux not found: only signatures that ssdprobe itself knows were looked for; install util-linux"
	loop, d := drive(t)
	if path := os.Getenv(given); path != "" {
		loop = testenv.Loop{Path: path}
		d = known(t, loop)
		p, err := safety.Permit(t.Context(), sysfs.FS{}, path, d, safety.Name(d))
		require.NoError(t, err)
		assert.Equal(t, note, p.Note())
		_, err = safety.Permit(t.Context(), sysfs.FS{}, path, d, "S6XYNG0T")
		require.ErrorContains(t, err, "S6XYNG0T was named; "+note)
		return
	}
	p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
	assert.Empty(t, p.Note())
	inside := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c",
		`for tool in wipefs blkid; do mount --bind /dev/null "$(readlink -f "$(command -v $tool)")"; done; exec "$@"`, "sh",
		os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	inside.Env = append(os.Environ(), given+"="+loop.Path)
	out, err := inside.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: "+t.Name())
}

// mount mounts source until the end of the test.
func mount(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, unix.Mount(source, dir, "ext4", unix.MS_RDONLY, "noload"))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}

func TestRefusesMounted(t *testing.T) {
	loop, d := drive(t)
	run(t, "mkfs.ext4", "-q", "-F", loop.Path)
	dir := mount(t, loop.Path)
	refused(t, loop, d, safety.Name(d), safety.KindMount, loop.Path+" is mounted at "+dir+" (ext4)")
	refused(t, loop, d, safety.Name(d), safety.KindExclusive, "the kernel or another process holds it exclusively")
}

// The name under which a device was mounted does not matter.
func TestRefusesMountedUnderAnotherName(t *testing.T) {
	loop, d := drive(t)
	run(t, "mkfs.ext4", "-q", "-F", loop.Path)
	other := filepath.Join(t.TempDir(), "my disk")
	var st unix.Stat_t
	require.NoError(t, unix.Stat(loop.Path, &st))
	require.NoError(t, unix.Mknod(other, unix.S_IFBLK|0o600, int(st.Rdev)))
	dir := mount(t, other)
	refused(t, loop, d, safety.Name(d), safety.KindMount, loop.Path+" is mounted at "+dir)
}

func TestRefusesAMountedPartition(t *testing.T) {
	loop := testenv.LoopDevice(t, 32*mib, testenv.Options{Random: true})
	loop.Partition(t, 1, 2048, 40960)
	partition := loop.Path + "p1"
	node(t, partition)
	run(t, "mkfs.ext4", "-q", "-F", partition)
	d := known(t, loop)
	assert.Equal(t, []string{filepath.Base(partition)}, d.Children)
	dir := mount(t, partition)
	refused(t, loop, d, safety.Name(d), safety.KindMount, partition+" is mounted at "+dir)
}

// The kernel keeps a partition, and can mount it, after its table was overwritten.
func TestRefusesAPartitionWhoseTableIsGone(t *testing.T) {
	for name, clear := range map[string]string{"to zeros": "/dev/zero", "to random data": "/dev/urandom"} {
		t.Run(name, func(t *testing.T) {
			loop, d := partitioned(t)
			refused(t, loop, d, safety.Name(d), safety.KindSignature, "there is an MBR partition table on it (at byte 510)")
			refused(t, loop, d, safety.Name(d), safety.KindPartition, "the kernel still has partitions of it: "+loop.Path+"p1 with ext2, ext3 or ext4 on it (at byte 1080); "+loop.Path+"p2")
			run(t, "dd", "if="+clear, "of="+loop.Path, "bs=64k", "count=1")
			refused(t, loop, d, safety.Name(d), safety.KindPartition, loop.Path+"p1 with ext2, ext3 or ext4 on it")
			mount(t, loop.Path+"p1")
		})
	}
}

// partitioned returns a blank device with an ext4 in the first of two partitions.
func partitioned(t *testing.T) (testenv.Loop, record.Device) {
	t.Helper()
	loop := testenv.LoopDevice(t, 32*mib, testenv.Options{})
	table := make([]byte, 512)
	copy(table[446:], "\x00\x00\x00\x00\x83\x00\x00\x00\x00\x08\x00\x00\x00\x40\x00\x00") // 16384 sectors from 2048
	copy(table[462:], "\x00\x00\x00\x00\x83\x00\x00\x00\x00\x50\x00\x00\x00\x40\x00\x00") // and from 20480
	copy(table[510:], "\x55\xaa")
	overwrite(t, loop, table, 0)
	for number, start := range map[int]int{1: 2048, 2: 20480} {
		loop.Partition(t, number, start, 16384)
		node(t, loop.Path+"p"+strconv.Itoa(number))
	}
	run(t, "mkfs.ext4", "-q", "-F", loop.Path+"p1")
	return loop, known(t, loop)
}

// node creates the device node of a partition if nobody else does.
func node(t *testing.T, path string) {
	t.Helper()
	number, err := sysfs.FS{}.Text("/sys/class/block/" + filepath.Base(path) + "/dev")
	require.NoError(t, err)
	if _, err := os.Stat(path); err == nil {
		return
	}
	major, minor, _ := strings.Cut(number, ":")
	run(t, "mknod", path, "b", major, minor)
	t.Cleanup(func() { require.NoError(t, os.Remove(path)) })
}

func TestRefusesSwap(t *testing.T) {
	loop, d := drive(t)
	run(t, "mkswap", "-f", loop.Path)
	run(t, "swapon", loop.Path)
	t.Cleanup(func() {
		out, err := exec.Command("swapoff", loop.Path).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	refused(t, loop, d, safety.Name(d), safety.KindSwap, loop.Path+" is swap space in use")
}

func TestRefusesWhatALoopDeviceIsMadeOf(t *testing.T) {
	loop, d := drive(t)
	above := testenv.Losetup(t, "--find", "--show", loop.Path)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", above) })
	refused(t, loop, d, safety.Name(d), safety.KindHolder, "the loop device "+above+" is made of "+loop.Path)
}

// Holders are listed in sysfs, whether md, LVM or dm-crypt made them.
func TestRefusesHolders(t *testing.T) {
	loop, d := drive(t)
	major, minor, _ := strings.Cut(loop.Number, ":")
	name := filepath.Base(loop.Path)
	dir := "sys/devices/virtual/block/" + name
	fs := sysfstest.Make(t, map[string]string{
		dir + "/dev": loop.Number + "\n", dir + "/size": "32768\n", dir + "/holders/md127/dev": "9:127\n",
		dir + "/queue/logical_block_size": "512\n", dir + "/queue/physical_block_size": "512\n",
		"proc/swaps": "Filename Type Size Used Priority\n",
	}, map[string]string{"sys/block/" + name: "/" + dir, "sys/class/block/" + name: "/" + dir, "sys/dev/block/" + major + ":" + minor: "/" + dir})
	found, err := device.Find(fs, loop.Number)
	require.NoError(t, err)
	_, err = safety.Permit(t.Context(), fs, loop.Path, d, safety.Name(found))
	require.EqualError(t, err, "refused to write to "+loop.Path+": /dev/md127 is made of it")
}

func TestRefusesWhatOthersHold(t *testing.T) {
	loop, d := drive(t)
	other, err := os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
	require.NoError(t, err)
	refused(t, loop, d, safety.Name(d), safety.KindExclusive, "the kernel or another process holds it exclusively")
	require.NoError(t, other.Close())
	_, err = safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
}

func TestRefusesWhatOthersMayWrite(t *testing.T) {
	loop, d := drive(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec 3<>"+loop.Path+"; echo ready; read line")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = stdout.Read(make([]byte, 6))
	require.NoError(t, err)
	refused(t, loop, d, safety.Name(d), safety.KindProcess, "(sh) has "+loop.Path+" open for writing")
	require.NoError(t, stdin.Close())
	_ = cmd.Wait() // the shell's read fails at the end of its input
	_, err = safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
}

// In a container without the host's PID namespace, it is unknown who else writes to a device.
func TestRefusesWhereProcessesAreOutOfSight(t *testing.T) {
	const given = "SSDPROBE_TEST_CONTAINER"
	type subject struct {
		Loop   testenv.Loop
		Device record.Device
	}
	if text := os.Getenv(given); text != "" {
		var s subject
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		refused(t, s.Loop, s.Device, safety.Name(s.Device), safety.KindProcess, "only the processes of this container are seen")
		return
	}
	loop, d := drive(t)
	text, err := json.Marshal(subject{loop, d})
	require.NoError(t, err)
	inside := exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "--mount-proc",
		os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	inside.Env = append(os.Environ(), given+"="+string(text))
	out, err := inside.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: "+t.Name())
}

// Random data that a run has written has the mark of some format by chance. The next step may write all the same. What
// somebody else formats meanwhile is refused.
func TestAMarkInRandomDataOfTheRunIsByChance(t *testing.T) {
	loop, d := drive(t)
	_, claim := claimed(t, loop, d)
	data := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(data)
	copy(data[1024:], "H+")
	overwrite(t, loop, data, 0)
	refused(t, loop, d, safety.Name(d), safety.KindSignature, "hfsplus as wipefs says")
	require.NoError(t, claim.Check(t.Context()))
	image := filepath.Join(t.TempDir(), "image")
	run(t, "sh", "-ec", "truncate -s 1M "+image+"; mkfs.minix "+image+"; dd if="+image+" of="+loop.Path+" conv=notrunc,fsync")
	require.ErrorIs(t, claim.Check(t.Context()), safety.ErrRefused)
	require.NoError(t, claim.Close())
}

// Everything is checked again when the device is claimed, and while it is held.
func TestEverythingIsCheckedAgain(t *testing.T) {
	loop, d := drive(t)
	p, claim := claimed(t, loop, d)
	require.Error(t, exec.Command("mkfs.ext4", "-q", "-F", "-F", loop.Path).Run(), "others are kept away")
	overwrite(t, loop, []byte("XFSB"), 0)
	require.ErrorContains(t, claim.Check(t.Context()), "there is XFS on it (at byte 0)")
	require.NoError(t, claim.Close())
	run(t, "mkfs.ext4", "-q", "-F", loop.Path)
	mount(t, loop.Path)
	_, err := p.Claim(t.Context())
	require.ErrorContains(t, err, "is mounted at")
}

// A name may come to mean another device between the permission and the run.
func TestRefusesAnotherDeviceOfTheSameName(t *testing.T) {
	loop, d := drive(t)
	second, _ := drive(t)
	link := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Symlink(loop.Path, link))
	p, err := safety.Permit(t.Context(), sysfs.FS{}, link, d, safety.Name(d))
	require.NoError(t, err)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(second.Path, link))
	_, err = p.Claim(t.Context())
	require.EqualError(t, err, "refused to write to "+link+": it is device "+second.Number+" now, and "+loop.Number+" was meant")
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.WriteFile(link, nil, 0o600))
	_, err = p.Claim(t.Context())
	require.ErrorContains(t, err, "it is not a block device")
}

// This may also happen during a claim: what is then held is the device that was permitted.
func TestClaimWhileTheNameChangesHands(t *testing.T) {
	const often = 20
	loop, d := drive(t)
	second, _ := drive(t)
	link := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Symlink(loop.Path, link))
	p, err := safety.Permit(t.Context(), sysfs.FS{}, link, d, safety.Name(d), safety.UnknownData) // claiming is faster with this
	require.NoError(t, err)
	over := make(chan struct{})
	var swapping errgroup.Group
	swapping.Go(func() error {
		for i := 0; ; i++ {
			select {
			case <-over:
				return nil
			default:
			}
			if err := os.Symlink([]string{second.Path, loop.Path}[i%2], link+".new"); err != nil {
				return err
			}
			if err := os.Rename(link+".new", link); err != nil {
				return err
			}
		}
	})
	for held, refused := 0, 0; held < often || refused < often; {
		claim, err := p.Claim(t.Context())
		if err != nil {
			require.ErrorContains(t, err, "it is device "+second.Number+" now, and "+loop.Number+" was meant")
			refused++
			continue
		}
		held++
		_, err = os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
		require.ErrorIs(t, err, unix.EBUSY, "it is held")
		free, err := os.OpenFile(second.Path, os.O_RDONLY|unix.O_EXCL, 0)
		require.NoError(t, err, "and the other is not")
		require.NoError(t, errors.Join(free.Close(), claim.Close()))
	}
	close(over)
	require.NoError(t, swapping.Wait())
}

func TestCheckSpace(t *testing.T) {
	dir := testenv.Ext4(t, 64*mib)
	free := testenv.FreeBytes(t, dir)
	require.NoError(t, safety.CheckSpace(filepath.Join(dir, "new"), free/2))
	err := safety.CheckSpace(filepath.Join(dir, "new"), free-mib)
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "have to stay free: make it smaller")

	// A file may overwrite its own blocks, but a sparse one still needs space.
	full, sparse := filepath.Join(dir, "full"), filepath.Join(dir, "sparse")
	require.NoError(t, os.WriteFile(full, make([]byte, free-mib), 0o600))
	require.NoError(t, safety.CheckSpace(full, free-mib))
	require.NoError(t, os.Truncate(full, 0))
	f, err := os.Create(sparse)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(free))
	require.NoError(t, f.Close())
	require.ErrorIs(t, safety.CheckSpace(sparse, free), safety.ErrRefused)
	require.ErrorIs(t, safety.CheckSpace(dir, mib), safety.ErrRefused, "a directory is no file")
	_, err = os.Stat(filepath.Join(dir, "new"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
