package lab

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// stretchBytes is the unit of written and unwritten places in an image.
const stretchBytes = 1 << 20

// image makes the drive's image, in a file that has no name any more.
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
	var seed [32]byte
	copy(seed[:], d.ID)
	random := rand.NewChaCha8(seed)
	for at, stretch := int64(0), int64(0); at < d.SizeBytes; at, stretch = at+stretchBytes, stretch+1 {
		if !d.written(stretch) {
			continue
		}
		to := io.NewOffsetWriter(file, at)
		if _, err := io.CopyN(to, random, min(stretchBytes, d.SizeBytes-at)); err != nil {
			return err
		}
	}
	return nil
}

// written spreads the written stretches evenly: it is true whenever the sum of ratios reaches the next whole number.
func (d Drive) written(stretch int64) bool {
	return int64(float64(stretch+1)*d.WrittenRatio) > int64(float64(stretch)*d.WrittenRatio)
}
