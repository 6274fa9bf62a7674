package suite

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Target is where the I/O of a run goes.
type Target struct {
	// Path is that of a block device or of a file that is full of random data.
	Path string
	// ID is the target's stable identity, "eui.…" or "file:…".
	ID string
	// Raw is true for a block device.
	Raw bool
	// OffsetBytes is where the data begins that may be used, and SizeBytes how much
	// of it there is. What lies before, such as the header of a probe file, is left alone.
	OffsetBytes, SizeBytes int64
	// Device is the device, or the one below the file; zero when it is not known.
	Device record.Device
	// Controllers are the names under which its interrupts stand in
	// /proc/interrupts ("nvme0"); without them interrupts are not counted.
	Controllers []string
}

func (t Target) check() error {
	switch {
	case !filepath.IsAbs(t.Path):
		return fmt.Errorf("target %q: not an absolute path", t.Path)
	case t.OffsetBytes < 0 || t.SizeBytes <= 0:
		return fmt.Errorf("target %s: %d bytes from %d on are no place for I/O", t.Path, t.SizeBytes, t.OffsetBytes)
	}
	return nil
}

// checkKind makes sure that the path is what the target says it is.
func (t Target) checkKind() error {
	info, err := os.Stat(t.Path)
	if err != nil {
		return err
	}
	block := info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
	switch {
	case t.Raw && !block:
		return fmt.Errorf("%s is not a block device", t.Path)
	case !t.Raw && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", t.Path)
	case !t.Raw && info.Size() < t.OffsetBytes+t.SizeBytes:
		return fmt.Errorf("%s has %d bytes, fewer than the %d that are to be used", t.Path, info.Size(), t.OffsetBytes+t.SizeBytes)
	}
	return nil
}

// room is the part of the target that blocks of a size fill without a rest.
func (t Target) room(blockBytes int64, depth int) (int64, error) {
	size := t.SizeBytes / blockBytes * blockBytes
	if size < blockBytes*int64(depth) {
		return 0, fmt.Errorf("target %s: %s is too small for blocks of %s at depth %d", t.Path, sizeText(t.SizeBytes), sizeText(blockBytes), depth)
	}
	return size, nil
}
