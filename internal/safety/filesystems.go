package safety

import "encoding/binary"

// ext finds ext2, ext3 and ext4, in whatever state, and their external journals. The mark
// is only two bytes, so the fields around it must be plausible too (the kernel's
// Documentation/filesystems/ext4/super.rst).
func ext(d *disk) (string, int64) {
	const superblock, magic = 1024, 56
	s := d.at(superblock, 256)
	if s == nil || string(s[magic:magic+2]) != "\x53\xef" {
		return "", 0
	}
	blocks, logBlockSize, revision := binary.LittleEndian.Uint32(s[4:]), binary.LittleEndian.Uint32(s[24:]), binary.LittleEndian.Uint32(s[76:])
	if blocks == 0 || logBlockSize > 6 || revision > 1 { // 1 KiB to 64 KiB
		return "", 0
	}
	return "ext2, ext3 or ext4", superblock + magic
}

// xfsLog finds the log of an XFS on a separate device: records may begin anywhere in it
// (fs/xfs/libxfs/xfs_log_format.h).
func xfsLog(d *disk) (string, int64) {
	const looked = 256 << 10
	for offset := int64(0); offset < looked; offset += 512 {
		if d.has(offset, "\xfe\xed\xba\xbe") && d.has(offset+8, "\x00\x00\x00\x01", "\x00\x00\x00\x02") {
			return "an XFS log", offset
		}
	}
	return "", 0
}

// minix finds the three versions of the Minix filesystem, in either byte order. The mark
// is only two bytes, but in all versions ever made a zone is one block
// (linux/minix_fs.h).
func minix(d *disk) (string, int64) {
	const superblock = 1024
	s := d.at(superblock, 32)
	if s == nil {
		return "", 0
	}
	for _, v := range []struct {
		magic, logZoneSize int
		marks              []string
		maps               [2]int // offsets of the numbers of blocks of the inode and zone maps
	}{
		{16, 10, []string{"\x7f\x13", "\x8f\x13", "\x68\x24", "\x78\x24"}, [2]int{4, 6}},
		{24, 12, []string{"\x5a\x4d"}, [2]int{6, 8}},
	} {
		for _, mark := range v.marks {
			found := string(s[v.magic : v.magic+2])
			if (found == mark || found == reverse(mark)) && s[v.logZoneSize] == 0 && s[v.logZoneSize+1] == 0 &&
				binary.LittleEndian.Uint16(s[v.maps[0]:]) != 0 && binary.LittleEndian.Uint16(s[v.maps[1]:]) != 0 {
				return "Minix", superblock + int64(v.magic)
			}
		}
	}
	return "", 0
}

// hfs finds HFS. Its mark is only two bytes, so its block size must be a multiple of a
// sector too (Inside Macintosh: Files, 2-60).
func hfs(d *disk) (string, int64) {
	const superblock = 1024
	s := d.at(superblock, 64)
	if s == nil || string(s[:2]) != "BD" {
		return "", 0
	}
	block, blocks := binary.BigEndian.Uint32(s[20:]), binary.BigEndian.Uint16(s[18:])
	if block == 0 || block%512 != 0 || block > 16<<20 || blocks == 0 {
		return "", 0
	}
	return "HFS", superblock
}

// swap finds swap space. Its mark is at the end of the first page, and the page size is
// that of the machine that made it.
func swap(d *disk) (string, int64) {
	for page := int64(4 << 10); page <= 64<<10; page *= 2 {
		switch {
		case d.has(page-10, "SWAPSPACE2", "SWAP-SPACE"):
			return "swap space", page - 10
		case d.has(page-10, "S1SUSPEND\x00", "S2SUSPEND\x00", "ULSUSPEND\x00", "LINHIB0001", "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"):
			return "a suspended system in swap space", page - 10
		}
	}
	return "", 0
}
