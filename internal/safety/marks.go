package safety

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// marks finds what formats have left on the device: the partitions known to the kernel, and the marks that this
// package or util-linux recognises. written says that the run itself may have written: see byChance.
func (c *Claim) marks(ctx context.Context, l *look, d record.Device, size int64, written bool) error {
	var ours []Signature
	disk := newDisk(c.file, size)
	if err := l.ask(ctx, itself, func() (found []Finding, err error) {
		if found, err = partitions(c.permission.fs, d, c.file); err != nil {
			return nil, err
		}
		if ours, err = signatures(disk); err != nil {
			err = fmt.Errorf("look for signatures: %w", err)
		}
		return found, err
	}); err != nil {
		return err
	}
	theirs := askUtilLinux(ctx, &c.utilLinux, c.file)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if written {
		if err := l.ask(ctx, itself, func() ([]Finding, error) {
			theirs.signatures = slices.DeleteFunc(theirs.signatures, disk.byChance)
			return nil, disk.err
		}); err != nil {
			return err
		}
	}
	c.note = theirs.note()
	l.add(theirs.blind...)
	if all := merge(ours, theirs.signatures); len(all) > 0 {
		f := Finding{Kind: KindSignature, Text: "there is " + placed(all)}
		if len(d.Children) == 0 { // otherwise the finding about partitions has the advice
			f.Cure = "if nobody needs it, " + advice(c.permission.path, theirs.signatures)
		}
		l.add(f)
	}
	return nil
}

// byChance reports whether a mark is in a sector of random data. Some formats have a mark of two bytes, which one in 65 536
// sectors of random data has; what else a format writes to that sector is not random. Of a mark at an unknown offset, nobody
// knows.
func (d *disk) byChance(s Signature) bool {
	if s.OffsetBytes < 0 {
		return false
	}
	sector := s.OffsetBytes - s.OffsetBytes%sectorBytes
	data := d.at(sector, sectorBytes)
	return data != nil && contentOf(data, sector) == random
}

// advice says how to remove what is on a device. wipefs removes only marks that it knows itself; zeroing everything
// removes any.
func advice(path string, known []Signature) string {
	everything := fmt.Sprintf("zero everything with blkdiscard -f -z %s", path)
	if len(known) == 0 {
		return everything
	}
	return fmt.Sprintf("remove the marks with wipefs -a %s, or %s", path, everything)
}

// merge adds the marks that util-linux found to those that this package found, and prefers this package's names.
// Each name is listed once.
func merge(ours, theirs []Signature) []Signature {
	var all []Signature
	add := func(s Signature) {
		if !slices.ContainsFunc(all, func(known Signature) bool { return known.Name == s.Name }) {
			all = append(all, s)
		}
	}
	for _, s := range ours {
		add(s)
	}
	for _, s := range theirs {
		if !slices.ContainsFunc(ours, func(o Signature) bool { return o.OffsetBytes == s.OffsetBytes }) {
			add(s)
		}
	}
	return all
}

// placed formats marks as "XFS on it (at byte 0), swap space (at byte 4086)".
func placed(all []Signature) string {
	var texts []string
	for i, s := range all {
		text := s.Name
		if i == 0 {
			text += " on it"
		}
		if s.OffsetBytes >= 0 {
			text += fmt.Sprintf(" (at byte %d)", s.OffsetBytes)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// partitions finds the partitions known to the kernel, with the marks in them. Even if the table has been
// overwritten, the kernel keeps them, and can mount them, until it is told to read the table again.
func partitions(fs sysfs.FS, d record.Device, device io.ReaderAt) ([]Finding, error) {
	var texts []string
	for _, name := range d.Children {
		dir := path.Join("/sys/class/block", sysfs.DirName(name))
		start, err := fs.Int(path.Join(dir, "start")) // in sectors of 512 bytes, like the size
		if err != nil {
			return nil, fmt.Errorf("find the partition %s: %w", name, err)
		}
		size, err := fs.Int(path.Join(dir, "size"))
		if err != nil {
			return nil, fmt.Errorf("find the partition %s: %w", name, err)
		}
		text := "/dev/" + name
		switch known, err := Signatures(io.NewSectionReader(device, start*512, size*512), size*512); {
		case err != nil: // its existence is reason enough
			text += fmt.Sprintf(" (%v)", err)
		case len(known) > 0:
			text += " with " + placed(known)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return []Finding{{
		Kind: KindPartition, Text: "the kernel still has partitions of it: " + strings.Join(texts, "; "),
		Cure: fmt.Sprintf("if nobody needs them, wipefs -a each of them and /dev/%s, then partx -d /dev/%[1]s makes the kernel forget them", d.Name),
	}}, nil
}
