package lab

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// stretchBytes is the unit of written and unwritten areas in an image.
	stretchBytes = 1 << 20
	// sharedFrom is the size from which on an image repeats the same sharedBytes. They are stored
	// once, so that a drive can be larger than the disk. The directory of temporary files has to be
	// on a filesystem that can clone, such as XFS.
	sharedFrom, sharedBytes = 16 << 30, 32 << 20
)

// image creates the drive's image, in a file without a name.
func (d Drive) image() (*os.File, error) {
	file, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	if err := d.fill(file); err != nil {
		return nil, fmt.Errorf("fill image of %s: %w", d.ID, errors.Join(err, file.Close()))
	}
	return file, nil
}

func (d Drive) fill(file *os.File) error {
	if err := file.Truncate(d.SizeBytes); err != nil {
		return err
	}
	own := d.SizeBytes
	if own >= sharedFrom {
		own = sharedBytes
	}
	var seed [32]byte
	copy(seed[:], d.ID)
	random := rand.NewChaCha8(seed)
	for at, stretch := int64(0), int64(0); at < own; at, stretch = at+stretchBytes, stretch+1 {
		if !d.written(stretch) {
			continue
		}
		to := io.NewOffsetWriter(file, at)
		if _, err := io.CopyN(to, random, min(stretchBytes, own-at)); err != nil {
			return err
		}
	}
	return repeat(file, own, d.SizeBytes)
}

// repeat clones the existing part of a file until the file has its size.
func repeat(file *os.File, have, size int64) error {
	for have < size {
		n := min(have, size-have)
		clone := unix.FileCloneRange{Src_fd: int64(file.Fd()), Src_length: uint64(n), Dest_offset: uint64(have)}
		if err := unix.IoctlFileCloneRange(int(file.Fd()), &clone); err != nil {
			return fmt.Errorf("share blocks in %s: %w", os.TempDir(), err)
		}
		have += n
	}
	return nil
}

// written reports whether a stretch is written. It spreads the written stretches evenly: it is true
// whenever the sum of ratios reaches the next whole number.
func (d Drive) written(stretch int64) bool {
	return int64(float64(stretch+1)*d.WrittenRatio) > int64(float64(stretch)*d.WrittenRatio)
}
