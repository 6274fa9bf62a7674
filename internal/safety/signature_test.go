package safety_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

var update = flag.Bool("update", false, "capture what the tools on this machine write")

const mib = 1 << 20

// tools returns the commands that make images of what may be on a device; %s is the
// image.
func tools() map[string]struct {
	sizeBytes int64
	command   string
	want      []string
} {
	type tool = struct {
		sizeBytes int64
		command   string
		want      []string
	}
	fs := func(size int64, command, want string) tool { return tool{size, command, []string{want}} }
	return map[string]tool{
		"ext2":           fs(16*mib, "mkfs.ext2 -q -F %s", "ext2, ext3 or ext4"),
		"ext4":           fs(16*mib, "mkfs.ext4 -q -F %s", "ext2, ext3 or ext4"),
		"ext2-any-state": fs(4*mib, "genext2fs -b 4096 %s", "ext2, ext3 or ext4"), // neither a state nor errors are set
		"minix-1":        fs(16*mib, "mkfs.minix -1 %s", "Minix"),
		"minix-1-short":  fs(16*mib, "mkfs.minix -1 -n 14 %s", "Minix"),
		"minix-2":        fs(16*mib, "mkfs.minix -2 %s", "Minix"),
		"minix-2-short":  fs(16*mib, "mkfs.minix -2 -n 14 %s", "Minix"),
		"minix-3":        fs(16*mib, "mkfs.minix -3 %s", "Minix"),
		"bfs":            fs(16*mib, "mkfs.bfs %s", "BFS of SCO"),
		"pc98":           fs(16*mib, "parted -s %s mklabel pc98 mkpart ext2 1MiB 8MiB", "a PC-98 partition table"),
		"amiga":          fs(16*mib, "parted -s %s mklabel amiga mkpart ext2 1MiB 8MiB", "an Amiga partition table"),
		"swap":           fs(16*mib, "mkswap %s", "swap space"),
		"swap-64k":       fs(16*mib, "mkswap --pagesize 65536 %s", "swap space"),
		"xfs":            fs(320*mib, "mkfs.xfs -q %s", "XFS"),
		"btrfs":          fs(128*mib, "mkfs.btrfs -q %s", "Btrfs"),
		"f2fs":           fs(64*mib, "mkfs.f2fs -q %s", "F2FS"),
		"fat16":          fs(16*mib, "mkfs.vfat -F 16 %s", "FAT"),
		"fat32":          fs(64*mib, "mkfs.vfat -F 32 %s", "FAT"),
		"exfat":          fs(16*mib, "mkfs.exfat %s", "exFAT"),
		"ntfs":           fs(16*mib, "mkfs.ntfs -q -F -f %s", "NTFS"),
		"jfs":            fs(32*mib, "mkfs.jfs -q %s", "JFS"),
		"nilfs2":         fs(160*mib, "mkfs.nilfs2 -q %s", "NILFS2"),
		"squashfs":       fs(16*mib, "mksquashfs README %s -noappend -quiet -no-progress", "SquashFS"),
		"luks1":          fs(32*mib, "printf secret | cryptsetup luksFormat -q --type luks1 --iter-time 1 %s -", "a LUKS volume"),
		"luks2":          fs(32*mib, "printf secret | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 %s -", "a LUKS volume"),
		"bcache":         fs(16*mib, "make-bcache -B %s", "a bcache device"),
		"lvm":            fs(16*mib, "pvcreate -q -ff -y --config 'devices { dir=\"/dev\" scan=[\"/dev\"] use_devicesfile=0 }' %s", "an LVM physical volume"),
		"gpt":            fs(16*mib, "parted -s %s mklabel gpt mkpart a 1MiB 8MiB", "a GPT partition table"),
		"gpt-empty":      fs(16*mib, "parted -s %s mklabel gpt", "a GPT partition table"),
		"mbr":            fs(16*mib, "parted -s %s mklabel msdos mkpart primary ext4 1MiB 8MiB", "an MBR partition table"),
		"mbr-empty":      fs(16*mib, "printf 'label: dos' | sfdisk -q %s", "an MBR partition table"),
		"mbr-of-gdisk":   fs(16*mib, "sgdisk -o %s", "a GPT partition table"),
		"sun":            fs(16*mib, "printf 'label: sun\n1M,4M\n' | sfdisk -q %s", "a Sun partition table"),
		"sgi":            fs(16*mib, "printf 'label: sgi\n' | sfdisk -q %s", "an SGI partition table"),
		"bsd":            fs(16*mib, "parted -s %s mklabel bsd mkpart ext2 1MiB 8MiB", "a BSD disklabel"),
		"mac":            fs(16*mib, "parted -s %s mklabel mac mkpart a hfs 1MiB 8MiB", "an Apple partition table"),
	}
}

// The probers find what real tools write. If a tool is not installed, a captured image
// replaces its output.
func TestSignaturesOfRealTools(t *testing.T) {
	for name, tool := range tools() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := filepath.Join("testdata", name+".gz")
			var image io.ReaderAt
			if file, ok := makeImage(t, tool.sizeBytes, tool.command); ok {
				image = file
				if *update {
					capture(t, fixture, file, tool.sizeBytes)
				}
			} else {
				image = load(t, fixture)
			}
			got, err := safety.Signatures(image, tool.sizeBytes)
			require.NoError(t, err)
			var names []string
			for _, s := range got {
				names = append(names, s.Name)
			}
			assert.Subset(t, names, tool.want)
			if !strings.HasPrefix(name, "mbr-of") && !strings.HasPrefix(name, "gpt") && name != "bsd" && name != "lvm" {
				assert.Len(t, names, 1, "and nothing else: %v", names)
			}
		})
	}
}

// makeImage makes an image with a tool; false if the tool is not installed.
func makeImage(t *testing.T, size int64, command string) (*os.File, bool) {
	t.Helper()
	words := strings.Fields(command)
	tool := words[0]
	if tool == "printf" {
		_, after, _ := strings.Cut(command, "| ")
		tool = strings.Fields(after)[0]
	}
	if _, err := exec.LookPath(tool); err != nil {
		return nil, false
	}
	path := filepath.Join(t.TempDir(), "image")
	device := path
	if tool == "pvcreate" || tool == "make-bcache" { // which do not accept files
		if os.Geteuid() != 0 {
			return nil, false
		}
		loop := testenv.LoopDevice(t, size, testenv.Options{})
		path, device = loop.Backing, loop.Path
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.Truncate(size))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(command, device))
	cmd.Dir = "testdata"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, f.Truncate(size))
	return f, true
}

const sector = 512

// stored holds the nonzero sectors from the beginning and the end of an image.
type stored struct {
	SizeBytes int64
	Sectors   map[int64][]byte
}

// capture stores the beginning and the end of an image.
func capture(t *testing.T, fixture string, image io.ReaderAt, size int64) {
	t.Helper()
	s := stored{size, map[int64][]byte{}}
	head := int64(80 << 10)
	if strings.Contains(fixture, "luks") { // keys follow, which look random
		head = 18 << 10
	}
	for at := int64(0); at < size; at += sector {
		if at == head {
			at = size - 80<<10
		}
		b := make([]byte, sector)
		_, err := image.ReadAt(b, at)
		require.NoError(t, err)
		if !bytes.Equal(b, make([]byte, sector)) {
			s.Sectors[at] = b
		}
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	require.NoError(t, gob.NewEncoder(z).Encode(s))
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(fixture, out.Bytes(), 0o644))
}

func load(t *testing.T, fixture string) io.ReaderAt {
	t.Helper()
	f, err := os.Open(fixture)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var s stored
	require.NoError(t, gob.NewDecoder(z).Decode(&s))
	return s
}

// ReadAt reads the image that the stored sectors represent.
func (s stored) ReadAt(p []byte, off int64) (int, error) {
	for i := 0; i < len(p); i += sector {
		n := copy(p[i:min(i+sector, len(p))], make([]byte, sector))
		copy(p[i:i+n], s.Sectors[off+int64(i)])
	}
	return len(p), nil
}

// Marks at the offsets that headers of the kernel and of other projects define.
func TestSignaturesByHand(t *testing.T) {
	const size = 64*mib + 12345*sector
	md := string(binary.LittleEndian.AppendUint32(nil, 0xa92b4efc))
	for name, c := range map[string]struct {
		offset int64
		bytes  string
		want   string
	}{
		"md 1.2":                 {4096, md, "a member of an md array"},
		"md 1.1":                 {0, md, "a member of an md array"},
		"md 1.0":                 {(size/sector - 16) / 8 * 8 * sector, md, "a member of an md array"},
		"md 0.90":                {size/65536*65536 - 65536, md, "a member of an md array"},
		"md 0.90, other endian":  {size/65536*65536 - 65536, "\xa9\x2b\x4e\xfc", "a member of an md array"},
		"IMSM":                   {size - 1024, "Intel Raid ISM Cfg Sig. 1.3.00", "a member of a RAID of Intel"},
		"DDF":                    {size - 512, "\xde\x11\xde\x11", "a member of a DDF RAID"},
		"ZFS, first label":       {128<<10 + 5<<10, "\x0c\xb1\xba\x00\x00\x00\x00\x00", "a member of a ZFS pool"},
		"ZFS, last label":        {size&^(256<<10-1) - 128<<10, "\x00\x00\x00\x00\x00\xba\xb1\x0c", "a member of a ZFS pool"},
		"LVM":                    {512, "LABELONE" + strings.Repeat("\x00", 16) + "LVM2 001", "an LVM physical volume"},
		"GPT, backup only":       {size - 512, "EFI PART", "a GPT partition table"},
		"GPT, 4 KiB sectors":     {4096, "EFI PART", "a GPT partition table"},
		"BlueStore":              {0, "bluestore block device\n", "a Ceph BlueStore device"},
		"DRBD":                   {size - 4096 + 60, "\x83\x74\x02\x6b", "a DRBD device"},
		"hibernated":             {4096 - 10, "S1SUSPEND\x00", "a suspended system in swap space"},
		"ISO":                    {32769, "CD001", "ISO 9660"},
		"Btrfs, mirror only":     {64<<20 + 64, "_BHRfS_M", "Btrfs"},
		"SPDK":                   {0, "SPDKBLOB", "an SPDK blobstore"},
		"XFS log":                {3 * 512, "\xfe\xed\xba\xbe\x00\x00\x00\x07\x00\x00\x00\x02", "an XFS log"},
		"UFS1":                   {8<<10 + 1372, "\x54\x19\x01\x00", "UFS"},
		"UFS1, big-endian":       {8<<10 + 1372, "\x00\x01\x19\x54", "UFS"},
		"UFS2":                   {64<<10 + 1372, "\x19\x01\x54\x19", "UFS"},
		"UFS2, piggy":            {256<<10 + 1372, "\x19\x01\x54\x19", "UFS"},
		"UFS2, floppy":           {1372, "\x19\x01\x54\x19", "UFS"},
		"zonefs":                 {0, "SFOZ", "zonefs"},
		"romfs":                  {0, "-rom1fs-", "romfs"},
		"cramfs after a boot":    {512, "\x45\x3d\xcd\x28", "cramfs"},
		"cramfs":                 {0, "\x45\x3d\xcd\x28", "cramfs"},
		"UBIFS":                  {0, "\x31\x18\x10\x06", "UBIFS"},
		"NSS":                    {4096, "SPB5", "NSS of NetWare"},
		"Amiga, last place":      {15 * 512, "RDSK", "an Amiga partition table"},
		"LUKS, second header":    {4 << 20, "SKUL\xba\xbe", "a LUKS volume"},
		"IMSM, 4 KiB sectors":    {size - 8192, "Intel Raid ISM Cfg Sig. 1.3.00", "a member of a RAID of Intel"},
		"DDF, further inside":    {size - 257*512, "\x11\xde\x11\xde", "a member of a DDF RAID"},
		"LSI":                    {size - 512, "$XIDE$", "a member of a RAID of LSI"},
		"Adaptec":                {size - 512, "\x37\xfc\x4d\x1e", "a member of a RAID of Adaptec"},
		"Silicon Image":          {size - 512 + 0x63, "\x2f", "a member of a RAID of Silicon Image"},
		"Nvidia":                 {size - 1024, "NVIDIA  ", "a member of a RAID of Nvidia"},
		"HighPoint 45x":          {size - 11*512, "\xf3\x16\x78\x5a", "a member of a RAID of HighPoint"},
		"HighPoint 37x":          {0x1220, "\xf0\x16\x78\x5a", "a member of a RAID of HighPoint"},
		"Promise":                {size - 3087*512, "Promise Technology, Inc.", "a member of a RAID of Promise"},
		"VIA":                    {size - 512, "\x55\xaa\x01" + strings.Repeat("\x00", 47) + "\x00", "a member of a RAID of VIA"},
		"JMicron":                {size - 512, "JM\xb6\xb2", "a member of a RAID of JMicron"},
		"LVM1":                   {0, "HM\x01\x00", "an LVM1 physical volume"},
		"DRBD control":           {0, "$DRBDmgr=q", "a DRBD control volume"},
		"System V":               {1024 - 8, "\x20\x7e\x18\xfd", "a System V filesystem"},
		"HPFS":                   {8192, "\x49\xe8\x95\xf9", "HPFS"},
		"HFS":                    {1024, "BD" + strings.Repeat("\x00", 16) + "\x10\x00\x00\x00\x10\x00", "HFS"},
		"dm-thin":                {32, "\xba\x52\x9c\x01\x00\x00\x00\x00", "metadata of dm-thin"},
		"hibernated by TuxOnIce": {4096 - 10, "\xed\xc3\x02\xe9\x98\x56\xe5\x0c", "a suspended system in swap space"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := safety.Signatures(marked{c.offset, c.bytes}, size)
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Name)
		})
	}
}

// The second mirror of a Btrfs is read directly, without everything before it.
func TestSignaturesFarInside(t *testing.T) {
	const size = 1 << 40
	device := &counted{marked: marked{256<<30 + 64, "_BHRfS_M"}}
	got, err := safety.Signatures(device, size)
	require.NoError(t, err)
	assert.Equal(t, []safety.Signature{{Name: "Btrfs", OffsetBytes: 256<<30 + 64}}, got)
	assert.Less(t, device.bytes, 8*mib)
}

// counted counts the bytes that were read.
type counted struct {
	marked
	bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.bytes += len(p)
	return c.marked.ReadAt(p, off)
}

// Two bytes that occur by chance are not a filesystem.
func TestMarksOfTwoBytesAlone(t *testing.T) {
	for name, m := range map[string]marked{
		"ext": {1080, "\x53\xef"}, "Minix": {1040, "\x7f\x13"}, "Minix 3": {1048, "\x5a\x4d"}, "HFS": {1024, "BD"},
		"JMicron": {mib - 512, "JM"}, "VIA": {mib - 512, "\x55\xaa\x02"}, "LVM1": {0, "HM"}, "MBR": {510, "\x55\xaa"},
	} {
		got, err := safety.Signatures(m, mib)
		require.NoError(t, err)
		assert.Empty(t, got, name)
	}
}

// marked is an endless device of zeros with one mark.
type marked struct {
	offset int64
	bytes  string
}

func (m marked) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for i := range m.bytes {
		if at := m.offset + int64(i) - off; at >= 0 && at < int64(len(p)) {
			p[at] = m.bytes[i]
		}
	}
	return len(p), nil
}

// Random data has no signature: a device stays usable after a run.
func TestNoSignatures(t *testing.T) {
	for range 10 {
		data := make([]byte, 3*mib)
		_, err := rand.Read(data)
		require.NoError(t, err)
		got, err := safety.Signatures(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		assert.Empty(t, got)
	}
	got, err := safety.Signatures(bytes.NewReader(make([]byte, 100)), 100)
	require.NoError(t, err)
	assert.Empty(t, got, "a device smaller than any table")
}

func TestSignaturesOfWhatCannotBeRead(t *testing.T) {
	_, err := safety.Signatures(bytes.NewReader(make([]byte, mib)), 2*mib)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = safety.Signatures(broken{}, mib)
	require.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

func FuzzSignatures(f *testing.F) {
	f.Add([]byte("XFSB"), int64(0))
	f.Add([]byte("\x55\xaa"), int64(510))
	f.Fuzz(func(t *testing.T, data []byte, offset int64) {
		size := int64(len(data))
		got, err := safety.Signatures(bytes.NewReader(data), size)
		require.NoError(t, err)
		for _, s := range got {
			assert.True(t, s.OffsetBytes >= 0 && s.OffsetBytes < size)
		}
		_, err = safety.Signatures(marked{offset, string(data)}, size+2*mib)
		require.NoError(t, err)
	})
}
