package safety

// magic is a mark at a fixed place: from the end when offset is negative. Marks of
// two bytes are too common by chance and come with a second one.
type magic struct {
	name   string
	offset int64
	bytes  string
	alsoAt int64 // from offset
	also   string
}

// magics lists the marks, after libblkid's probers (util-linux, libblkid/src).
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
		{name: "a Windows dynamic disk", offset: 6 * 512, bytes: "PRIVHEAD"},

		// Volumes.
		{name: "a LUKS volume", offset: 0, bytes: "LUKS\xba\xbe"},
		{name: "a LUKS volume", offset: 16 << 10, bytes: "SKUL\xba\xbe"},
		{name: "a BitLocker volume", offset: 3, bytes: "-FVE-FS-"},
		{name: "a bcache device", offset: 4096 + 24, bytes: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
		{name: "a Stratis device", offset: 512 + 4, bytes: "!Stra0tis\x86\xff\x02^\x41rh"},
		{name: "a VDO volume", offset: 0, bytes: "dmvdo001"},
		{name: "a dm-integrity volume", offset: 0, bytes: "integrt\x00"},
		{name: "a dm-verity volume", offset: 0, bytes: "verity\x00\x00"},
		{name: "a dm snapshot", offset: 0, bytes: "SnAp\x01\x00\x00\x00"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6b"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6c"},
		{name: "a DRBD device", offset: -4096 + 60, bytes: "\x83\x74\x02\x6d"},
		{name: "a Ceph BlueStore device", offset: 0, bytes: "bluestore block device"},
		{name: "an Oracle ASM disk", offset: 32, bytes: "ORCLDISK"},
		{name: "a VMFS volume", offset: 1 << 20, bytes: "\x0d\xd0\x01\xc0"},

		// Filesystems.
		{name: "ext2, ext3 or ext4", offset: 1024 + 56, bytes: "\x53\xef", alsoAt: 4, also: "\x01\x00"},
		{name: "ext2, ext3 or ext4", offset: 1024 + 56, bytes: "\x53\xef", alsoAt: 4, also: "\x02\x00"},
		{name: "ext2, ext3 or ext4", offset: 1024 + 56, bytes: "\x53\xef", alsoAt: 4, also: "\x03\x00"},
		{name: "XFS", offset: 0, bytes: "XFSB"},
		{name: "Btrfs", offset: 64<<10 + 64, bytes: "_BHRfS_M"},
		{name: "bcachefs", offset: 4096 + 24, bytes: "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
		{name: "F2FS", offset: 1024, bytes: "\x10\x20\xf5\xf2"},
		{name: "EROFS", offset: 1024, bytes: "\xe2\xe1\xf5\xe0"},
		{name: "SquashFS", offset: 0, bytes: "hsqs"},
		{name: "NTFS", offset: 3, bytes: "NTFS    "},
		{name: "ReFS", offset: 3, bytes: "ReFS"},
		{name: "exFAT", offset: 3, bytes: "EXFAT   "},
		{name: "FAT", offset: 54, bytes: "FAT12   "},
		{name: "FAT", offset: 54, bytes: "FAT16   "},
		{name: "FAT", offset: 82, bytes: "FAT32   "},
		{name: "HFS+", offset: 1024, bytes: "H+\x00\x04"},
		{name: "HFS+", offset: 1024, bytes: "HX\x00\x05"},
		{name: "APFS", offset: 32, bytes: "NXSB"},
		{name: "JFS", offset: 32 << 10, bytes: "JFS1"},
		{name: "NILFS2", offset: 1024, bytes: "\x02\x00\x00\x00", alsoAt: 6, also: "\x34\x34"},
		{name: "ReiserFS", offset: 64<<10 + 52, bytes: "ReIsEr"},
		{name: "Reiser4", offset: 64 << 10, bytes: "ReIsEr4"},
		{name: "GFS2", offset: 64 << 10, bytes: "\x01\x16\x19\x70"},
		{name: "VxFS", offset: 1024, bytes: "\xf5\xfc\x01\xa5"},
		{name: "ISO 9660", offset: 32<<10 + 1, bytes: "CD001"},
		{name: "UDF", offset: 32<<10 + 1, bytes: "BEA01"},
		{name: "UBI", offset: 0, bytes: "UBI#"},
	}
	for sector := range int64(4) {
		all = append(all, magic{name: "an LVM physical volume", offset: 512 * sector, bytes: "LABELONE", alsoAt: 24, also: "LVM2 001"})
	}
	for block := int64(1 << 10); block <= 8<<10; block *= 2 {
		all = append(all, magic{name: "OCFS2", offset: block, bytes: "OCFSV2"})
	}
	return all
}
