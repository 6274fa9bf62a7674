package safety

import "io"

// Signature is a mark left by a filesystem, a volume manager or a partition table.
type Signature struct {
	Name        string // "ext2, ext3 or ext4"
	OffsetBytes int64
}

// prober finds one kind of mark that needs more than a comparison of fixed bytes. It
// returns an empty name if the mark is absent.
type prober func(*disk) (name string, offset int64)

// probers returns all probers. Each is in the file named after what it finds.
func probers() []prober {
	return []prober{ext, xfsLog, minix, hfs, swap, mbr, sun, md, ddf, firmwareRAID, zfs, dmMetadata}
}

// Signatures looks for known marks on a device of sizeBytes. It returns none for a blank
// device and for one full of random data.
func Signatures(r io.ReaderAt, sizeBytes int64) ([]Signature, error) {
	all, err := signatures(newDisk(r, sizeBytes))
	if err != nil {
		return nil, err
	}
	var found []Signature
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s.Name] { // list each name once
			seen[s.Name] = true
			found = append(found, s)
		}
	}
	return found, nil
}

// signatures returns all marks, including several with the same name.
func signatures(d *disk) ([]Signature, error) {
	var found []Signature
	for _, m := range magics() {
		offset := m.offset
		if offset < 0 {
			offset += d.size
		}
		if d.has(offset, m.bytes) && (m.also == "" || d.has(offset+m.alsoAt, m.also)) {
			found = append(found, Signature{m.name, offset})
		}
	}
	for _, probe := range probers() {
		if name, offset := probe(d); name != "" {
			found = append(found, Signature{name, offset})
		}
	}
	return found, d.err
}
