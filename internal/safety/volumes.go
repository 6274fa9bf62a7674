package safety

import "encoding/binary"

// md finds the superblocks of md (include/uapi/linux/raid/md_p.h), whose offsets depend
// on the size of the device.
func md(d *disk) (string, int64) {
	const magic = 0xa92b4efc
	little := string(binary.LittleEndian.AppendUint32(nil, magic))
	for _, offset := range []int64{
		0,                            // 1.1
		4 << 10,                      // 1.2
		(d.size/512 - 16) &^ 7 * 512, // 1.0
		d.size&^(64<<10-1) - 64<<10,  // 0.90
	} {
		if d.has(offset, little, reverse(little)) {
			return "a member of an md array", offset
		}
	}
	return "", 0
}

// ddf finds the anchor of a DDF RAID, in either byte order (SNIA DDF 2.0, section 5.2).
func ddf(d *disk) (string, int64) {
	for _, sectors := range []int64{1, 257} {
		if offset := fromEnd(d, sectors); d.has(offset, "\xde\x11\xde\x11", "\x11\xde\x11\xde") {
			return "a member of a DDF RAID", offset
		}
	}
	return "", 0
}

// fromEnd returns the offset of a sector counted from the end, where the last sector is
// 1.
func fromEnd(d *disk, sector int64) int64 { return (d.size/512 - sector) * 512 }

// firmwareRAID finds what the RAID firmware of mainboards and adapters leaves near the
// end.
func firmwareRAID(d *disk) (string, int64) {
	type place struct {
		maker  string
		offset int64
		marks  []string
	}
	last := fromEnd(d, 1)
	places := []place{
		{"Intel", fromEnd(d, 2), []string{"Intel Raid ISM Cfg Sig. "}},
		{"Intel", d.size - 2*4096, []string{"Intel Raid ISM Cfg Sig. "}},
		{"LSI", last, []string{"$XIDE$"}},
		{"Adaptec", last, []string{"\x37\xfc\x4d\x1e"}},
		{"Silicon Image", last + 0x60, []string{"\x00\x00\x00\x2f"}},
		{"Nvidia", fromEnd(d, 2), []string{"NVIDIA  "}},
		{"HighPoint", fromEnd(d, 11), []string{"\xf3\x16\x78\x5a", "\xfd\x16\x78\x5a"}},
		{"HighPoint", 9*512 + 32, []string{"\xf0\x16\x78\x5a", "\xfd\x16\x78\x5a"}},
	}
	for _, sector := range []int64{63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087} {
		places = append(places, place{"Promise", fromEnd(d, sector), []string{"Promise Technology, Inc."}})
	}
	for _, p := range places {
		if d.has(p.offset, p.marks...) {
			return "a member of a RAID of " + p.maker, p.offset
		}
	}
	switch s := d.at(last, 128); {
	case s == nil:
	case string(s[:2]) == "\x55\xaa" && s[2] <= 2 && sum8(s[:50]) == s[50]:
		return "a member of a RAID of VIA", last
	case string(s[:2]) == "JM" && sum16(s) <= 1:
		return "a member of a RAID of JMicron", last
	}
	return "", 0
}

func sum8(p []byte) (sum byte) {
	for _, b := range p {
		sum += b
	}
	return sum
}

func sum16(p []byte) (sum uint16) {
	for ; len(p) > 1; p = p[2:] {
		sum += binary.LittleEndian.Uint16(p)
	}
	return sum
}

// zfs finds uberblocks in one of the four labels, in either byte order.
func zfs(d *disk) (string, int64) {
	const label, first, step = 256 << 10, 128 << 10, 1 << 10
	const little = "\x0c\xb1\xba\x00\x00\x00\x00\x00"
	size := d.size &^ (label - 1)
	for _, start := range []int64{0, label, size - 2*label, size - label} {
		for offset := start + first; offset < start+label; offset += step {
			if d.has(offset, little, reverse(little)) {
				return "a member of a ZFS pool", offset
			}
		}
	}
	return "", 0
}

// dmMetadata finds the devices on which dm-thin, dm-cache and dm-era keep their
// metadata: their magic numbers follow a checksum, flags, the block's number and a UUID
// (drivers/md/dm-thin-metadata.c and similar files).
func dmMetadata(d *disk) (string, int64) {
	const offset = 32
	for number, name := range map[uint64]string{27022010: "dm-thin", 6142003: "dm-cache", 2126579579: "dm-era"} {
		if d.has(offset, string(binary.LittleEndian.AppendUint64(nil, number))) {
			return "metadata of " + name, offset
		}
	}
	return "", 0
}
