package safety

import "slices"

// magic is a mark at a fixed offset, which counts from the end if it is negative. A mark of two
// bytes occurs too often by chance, so it requires a second one.
type magic struct {
	name   string
	offset int64
	bytes  string
	alsoAt int64 // relative to offset
	also   string
}

// magics lists the marks. Their sources are the formats' own definitions and libblkid's probers
// (util-linux, libblkid/src). Formats that need more than a comparison of fixed bytes are in
// probers.
func magics() []magic {
	all := []magic{
		// Partition tables.
		{name: "a GPT partition table", offset: 512, bytes: "EFI PART"},
		{name: "a GPT partition table", offset: 4096, bytes: "EFI PART"},
		{name: "a GPT partition table", offset: -512, bytes: "EFI PART"},
		{name: "a GPT partition table", offset: -4096, bytes: "EFI PART"},
		{name: "an Apple partition table", offset: 0, bytes: "ER", alsoAt: 512, also: "PM"},
		{name: "a BSD disklabel", offset: 512, bytes: "\x57\x45\x56\x82"},
		{name: "a BSD disklabel", offset: 64, bytes: "\x57\x45\x56\x82"},
		{name: "an SGI partition table", offset: 0, bytes: "\x0b\xe5\xa9\x41"},
		{name: "a PC-98 partition table", offset: 4, bytes: "IPL1", alsoAt: 510 - 4, also: "\x55\xaa"},
		{name: "an AIX partition table", offset: 0, bytes: "\xc9\xc2\xd4\xc1"},
		{name: "an Ultrix disklabel", offset: 16<<10 - 72, bytes: "\x57\x29\x03\x00"},
		{name: "a Windows dynamic disk", offset: 6 * 512, bytes: "PRIVHEAD"},

		// Volumes.
		{name: "a LUKS volume", offset: 0, bytes: "LUKS\xba\xbe"},
		{name: "a BitLocker volume", offset: 3, bytes: "-FVE-FS-"},
		{name: "an Apple Core Storage volume", offset: 88, bytes: "CS", alsoAt: 8 - 88, also: "\x01\x00\x10\x00"},
		{name: "a bcache device", offset: 4096 + 24, bytes: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
		{name: "a Stratis device", offset: 512 + 4, bytes: "!Stra0tis\x86\xff\x02^\x41rh"},
		{name: "a VDO volume", offset: 0, bytes: "dmvdo001"},
		{name: "a dm-integrity volume", offset: 0, bytes: "integrt\x00"},
		{name: "a dm-verity volume", offset: 0, bytes: "verity\x00\x00"},
		{name: "a dm-writecache device", offset: 0, bytes: "\x21\x93\x48\x23"},
		{name: "a dm snapshot", offset: 0, bytes: "SnAp\x01\x00\x00\x00"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6b"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6c"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6d"},
		{name: "a DRBD control volume", offset: 0, bytes: "$DRBDmgr=q"},
		{name: "a DRBD Proxy log", offset: 0, bytes: "DRBDdlh*"},
		{name: "an LVM1 physical volume", offset: 0, bytes: "HM\x01\x00"},
		{name: "an LVM1 physical volume", offset: 0, bytes: "HM\x02\x00"},
		{name: "a Ceph BlueStore device", offset: 0, bytes: "bluestore block device"},
		{name: "an SPDK blobstore", offset: 0, bytes: "SPDKBLOB"},
		{name: "an mpool device", offset: 0, bytes: "mpoolDev"},
		{name: "an OpenSVC heartbeat disk", offset: 4, bytes: "\x3d\xc1\x3c\x87\xc0\x5b\xe3\xb6"},
		{name: "an Oracle ASM disk", offset: 32, bytes: "ORCLDISK"},
		{name: "a VMFS volume", offset: 1 << 20, bytes: "\x0d\xd0\x01\xc0"},
		{name: "a VMFS volume", offset: 2 << 20, bytes: "\x5e\xf1\xab\x2f"},

		// Filesystems.
		{name: "XFS", offset: 0, bytes: "XFSB"},
		{name: "EXFS", offset: 0, bytes: "EXFS"},
		// The mirrors remain if the beginning is overwritten, and the filesystem can be
		// restored from them.
		{name: "Btrfs", offset: 64<<10 + 64, bytes: "_BHRfS_M"},
		{name: "Btrfs", offset: 64<<20 + 64, bytes: "_BHRfS_M"},
		{name: "Btrfs", offset: 256<<30 + 64, bytes: "_BHRfS_M"},
		{name: "bcachefs", offset: 4096 + 24, bytes: "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
		{name: "F2FS", offset: 1024, bytes: "\x10\x20\xf5\xf2"},
		{name: "EROFS", offset: 1024, bytes: "\xe2\xe1\xf5\xe0"},
		{name: "SquashFS", offset: 0, bytes: "hsqs"},
		{name: "SquashFS", offset: 0, bytes: "sqsh"},
		{name: "cramfs", offset: 0, bytes: "\x45\x3d\xcd\x28"},
		{name: "cramfs", offset: 0, bytes: "\x28\xcd\x3d\x45"},
		{name: "cramfs", offset: 512, bytes: "\x45\x3d\xcd\x28"},
		{name: "cramfs", offset: 512, bytes: "\x28\xcd\x3d\x45"},
		{name: "romfs", offset: 0, bytes: "-rom1fs-"},
		{name: "BFS of SCO", offset: 0, bytes: "\xce\xfa\xad\x1b"},
		{name: "BFS of BeOS", offset: 32, bytes: "BFS1"},
		{name: "BFS of BeOS", offset: 32, bytes: "1SFB"},
		{name: "BFS of BeOS", offset: 512 + 32, bytes: "BFS1"},
		{name: "BFS of BeOS", offset: 512 + 32, bytes: "1SFB"},
		{name: "zonefs", offset: 0, bytes: "SFOZ"},
		{name: "NTFS", offset: 3, bytes: "NTFS    "},
		{name: "ReFS", offset: 3, bytes: "ReFS"},
		{name: "exFAT", offset: 3, bytes: "EXFAT   "},
		{name: "FAT", offset: 54, bytes: "FAT12   "},
		{name: "FAT", offset: 54, bytes: "FAT16   "},
		{name: "FAT", offset: 82, bytes: "FAT32   "},
		{name: "HPFS", offset: 8 << 10, bytes: "\x49\xe8\x95\xf9"},
		{name: "HFS+", offset: 1024, bytes: "H+\x00\x04"},
		{name: "HFS+", offset: 1024, bytes: "HX\x00\x05"},
		{name: "APFS", offset: 32, bytes: "NXSB"},
		{name: "JFS", offset: 32 << 10, bytes: "JFS1"},
		{name: "NILFS2", offset: 1024, bytes: "\x02\x00\x00\x00", alsoAt: 6, also: "\x34\x34"},
		{name: "ReiserFS", offset: 64<<10 + 52, bytes: "ReIsEr"},
		{name: "ReiserFS", offset: 8<<10 + 52, bytes: "ReIsErFs"},
		{name: "Reiser4", offset: 64 << 10, bytes: "ReIsEr4"},
		{name: "GFS2", offset: 64 << 10, bytes: "\x01\x16\x19\x70"},
		{name: "ScoutFS", offset: 64<<10 + 4, bytes: "\x8b\x42\x3c\x10"},
		{name: "OCFS", offset: 8, bytes: "OracleCFS"},
		{name: "VxFS", offset: 1024, bytes: "\xf5\xfc\x01\xa5"},
		{name: "NSS of NetWare", offset: 4 << 10, bytes: "SPB5"},
		{name: "ISO 9660", offset: 32<<10 + 1, bytes: "CD001"},
		{name: "ISO 9660", offset: 32<<10 + 9, bytes: "CDROM"},
		{name: "UDF", offset: 32<<10 + 1, bytes: "BEA01"},
		{name: "UBI", offset: 0, bytes: "UBI#"},
		{name: "UBIFS", offset: 0, bytes: "\x31\x18\x10\x06"},
	}
	for sector := range int64(4) {
		all = append(all, magic{name: "an LVM physical volume", offset: 512 * sector, bytes: "LABELONE", alsoAt: 24, also: "LVM2 001"})
	}
	for sector := range int64(16) {
		all = append(all, magic{name: "an Amiga partition table", offset: 512 * sector, bytes: "RDSK"})
	}
	for block := int64(1 << 10); block <= 8<<10; block *= 2 {
		all = append(all, magic{name: "OCFS2", offset: block, bytes: "OCFSV2"})
	}
	// The second header is at one of these offsets, after the area of the first one.
	for second := int64(16 << 10); second <= 4<<20; second *= 2 {
		all = append(all, magic{name: "a LUKS volume", offset: second, bytes: "SKUL\xba\xbe"})
	}
	for _, block := range []int64{0, 9, 15, 18} {
		for _, mark := range []string{"\x20\x7e\x18\xfd", "\xfd\x18\x7e\x20"} {
			all = append(all, magic{name: "a System V filesystem", offset: block<<10 + 1024 - 8, bytes: mark})
		}
	}
	return append(all, ufs()...)
}

// ufs returns the marks of the UFS variants of BSD and Solaris, in either byte order, at each
// possible offset of the superblock (sys/ufs/ffs/fs.h).
func ufs() []magic {
	var all []magic
	for _, superblock := range []int64{0, 8 << 10, 64 << 10, 256 << 10} {
		for _, mark := range []string{
			"\x00\x01\x19\x54", "\x19\x54\x01\x19", "\x00\x19\x56\x12", "\x00\x09\x50\x14", "\x00\x61\x21\x95", "\x05\x23\x19\x94",
		} {
			for _, bytes := range []string{mark, reverse(mark)} {
				all = append(all, magic{name: "UFS", offset: superblock + 1372, bytes: bytes})
			}
		}
	}
	return all
}

func reverse(mark string) string {
	b := []byte(mark)
	slices.Reverse(b)
	return string(b)
}
