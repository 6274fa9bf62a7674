package safety

import (
	"bytes"
	"encoding/binary"
)

// mbr finds a partition table of the PC's BIOS. Its mark is two bytes that boot sectors
// of filesystems have too, so its entries must be plausible.
func mbr(d *disk) (string, int64) {
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
	// A table without partitions has a disk identifier, at byte 440.
	empty := bytes.Equal(d.at(table, 4*entry), make([]byte, 4*entry)) && binary.LittleEndian.Uint32(d.at(440, 4)) != 0
	if used > 0 || empty {
		return "an MBR partition table", 510
	}
	return "", 0
}

// sun finds a Sun label, in which the exclusive or of all words is zero.
func sun(d *disk) (string, int64) {
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
