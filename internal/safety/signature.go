package safety

import "io"

// Signature is a mark that a filesystem, a volume manager or a partition table left.
type Signature struct {
	Name        string // "ext2, ext3 or ext4"
	OffsetBytes int64
}

// prober finds one kind of mark that takes more than a look at fixed bytes: an empty name
// when it is not there.
type prober func(*disk) (name string, offset int64)

// probers are in the files named after what they find.
func probers() []prober {
	return []prober{ext, xfsLog, minix, hfs, swap, mbr, sun, md, ddf, firmwareRAID, zfs, dmMetadata}
}

// Signatures looks for known marks on a device of a size. It is empty for a blank
// device and for one full of random data.
func Signatures(r io.ReaderAt, sizeBytes int64) ([]Signature, error) {
	all, err := signatures(newDisk(r, sizeBytes))
	if err != nil {
		return nil, err
	}
	var found []Signature
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s.Name] { // once is enough of each
			seen[s.Name] = true
			found = append(found, s)
		}
	}
	return found, nil
}

// signatures are all marks, several of one name included.
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
