package safety

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// headBytes and tailBytes are looked at; every signature lies in them.
	headBytes = 1<<20 + 64<<10
	tailBytes = 1 << 20
)

// Signature is a mark that a filesystem, a volume manager or a partition table left.
type Signature struct {
	Name        string // "ext2, ext3 or ext4"
	OffsetBytes int64
}

// Signatures looks for known marks on a device of a size. It is empty for a blank
// device and for one full of random data.
func Signatures(r io.ReaderAt, sizeBytes int64) ([]Signature, error) {
	d := disk{size: sizeBytes, head: make([]byte, min(sizeBytes, headBytes)), tail: make([]byte, min(sizeBytes, tailBytes))}
	if err := readFull(r, d.head, 0); err != nil {
		return nil, err
	}
	if err := readFull(r, d.tail, sizeBytes-int64(len(d.tail))); err != nil {
		return nil, err
	}
	var found []Signature
	seen := map[string]bool{}
	add := func(name string, offset int64) {
		if !seen[name] { // once is enough of each
			seen[name] = true
			found = append(found, Signature{name, offset})
		}
	}
	for _, m := range magics() {
		offset := m.offset
		if offset < 0 {
			offset += sizeBytes
		}
		if d.has(offset, m.bytes) && (m.also == "" || d.has(offset+m.alsoAt, m.also)) {
			add(m.name, offset)
		}
	}
	for _, look := range []func(disk) (string, int64){swap, mbr, raid, zfs, sun} {
		if name, offset := look(d); name != "" {
			add(name, offset)
		}
	}
	return found, nil
}

func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at %d: %w", len(p), offset, err)
}

// disk is what was read of a device.
type disk struct {
	size       int64
	head, tail []byte
}

// at returns n bytes at an offset, nil when they were not read.
func (d disk) at(offset int64, n int) []byte {
	end := offset + int64(n)
	tail := d.size - int64(len(d.tail))
	switch {
	case offset >= 0 && end <= int64(len(d.head)):
		return d.head[offset:end]
	case offset >= tail && end <= d.size && offset >= 0:
		return d.tail[offset-tail : end-tail]
	}
	return nil
}

func (d disk) has(offset int64, magic string) bool { return string(d.at(offset, len(magic))) == magic }

// swap finds swap space, whose mark is at the end of the first page of whatever
// size the machine has that made it.
func swap(d disk) (string, int64) {
	for page := int64(4 << 10); page <= 64<<10; page *= 2 {
		for magic, name := range map[string]string{
			"SWAPSPACE2": "swap space", "SWAP-SPACE": "swap space", "S1SUSPEND\x00": "a suspended system in swap space",
		} {
			if d.has(page-10, magic) {
				return name, page - 10
			}
		}
	}
	return "", 0
}

// mbr finds a partition table of the PC's BIOS. Its mark is two bytes that boot
// sectors of filesystems have too, so its entries have to make sense.
func mbr(d disk) (string, int64) {
	const table, entry = 446, 16
	if !d.has(510, "\x55\xaa") {
		return "", 0
	}
	used := 0
	for i := range int64(4) {
		e := d.at(table+i*entry, entry)
		start, length := binary.LittleEndian.Uint32(e[8:]), binary.LittleEndian.Uint32(e[12:])
		switch {
		case e[0] != 0 && e[0] != 0x80:
			return "", 0
		case e[4] != 0 && start > 0 && length > 0:
			used++
		}
	}
	// A table without partitions has the number of its disk, at byte 440.
	empty := bytes.Equal(d.at(table, 4*entry), make([]byte, 4*entry)) && binary.LittleEndian.Uint32(d.at(440, 4)) != 0
	if used > 0 || empty {
		return "an MBR partition table", 510
	}
	return "", 0
}

// raid finds superblocks of md (include/uapi/linux/raid/md_p.h), which are at places
// that follow from the size, and those of firmware RAID.
func raid(d disk) (string, int64) {
	const magic = 0xa92b4efc
	little := string(binary.LittleEndian.AppendUint32(nil, magic))
	big := string(binary.BigEndian.AppendUint32(nil, magic))
	for _, offset := range []int64{
		0,                            // 1.1
		4 << 10,                      // 1.2
		(d.size/512 - 16) &^ 7 * 512, // 1.0
		d.size&^(64<<10-1) - 64<<10,  // 0.90
	} {
		if d.has(offset, little) || d.has(offset, big) {
			return "a member of an md array", offset
		}
	}
	if d.has(d.size-1024, "Intel Raid ISM Cfg Sig. ") {
		return "a member of an Intel RAID", d.size - 1024
	}
	if d.has(d.size-512, "\xde\x11\xde\x11") || d.has(d.size-512, "\x11\xde\x11\xde") {
		return "a member of a DDF RAID", d.size - 512
	}
	return "", 0
}

// zfs finds uberblocks in one of the four labels, of either byte order.
func zfs(d disk) (string, int64) {
	const label, first, step = 256 << 10, 128 << 10, 1 << 10
	size := d.size &^ (label - 1)
	for _, start := range []int64{0, label, size - 2*label, size - label} {
		for offset := start + first; offset < start+label; offset += step {
			if d.has(offset, "\x0c\xb1\xba\x00\x00\x00\x00\x00") || d.has(offset, "\x00\x00\x00\x00\x00\xba\xb1\x0c") {
				return "a member of a ZFS pool", offset
			}
		}
	}
	return "", 0
}

// sun finds a Sun label, whose words add up to nothing by exclusive or.
func sun(d disk) (string, int64) {
	if !d.has(508, "\xda\xbe") {
		return "", 0
	}
	var sum uint16
	for i := int64(0); i < 512; i += 2 {
		sum ^= binary.BigEndian.Uint16(d.at(i, 2))
	}
	if sum != 0 {
		return "", 0
	}
	return "a Sun partition table", 508
}
