package safety

import (
	"errors"
	"fmt"
	"io"
)

// windowBytes is read at once: marks stand near each other.
const windowBytes = 64 << 10

// disk reads a device where marks may be, and nothing in between.
type disk struct {
	r       io.ReaderAt
	size    int64
	windows map[int64][]byte // by number
	err     error            // the first that reading met
}

func newDisk(r io.ReaderAt, sizeBytes int64) *disk {
	return &disk{r: r, size: sizeBytes, windows: map[int64][]byte{}}
}

// at returns n bytes at an offset; nil when they are not all on the device, or cannot be
// read, which err tells then.
func (d *disk) at(offset int64, n int) []byte {
	if offset < 0 || offset > d.size-int64(n) {
		return nil
	}
	p := make([]byte, 0, n)
	for len(p) < n {
		at := offset + int64(len(p))
		window := d.window(at / windowBytes)
		if window == nil {
			return nil
		}
		rest := window[at%windowBytes:]
		p = append(p, rest[:min(n-len(p), len(rest))]...)
	}
	return p
}

func (d *disk) window(number int64) []byte {
	if d.err != nil {
		return nil
	}
	if w, read := d.windows[number]; read {
		return w
	}
	w := make([]byte, min(windowBytes, d.size-number*windowBytes))
	if d.err = readFull(d.r, w, number*windowBytes); d.err != nil {
		return nil
	}
	d.windows[number] = w
	return w
}

// has reports whether one of the marks is at an offset.
func (d *disk) has(offset int64, marks ...string) bool {
	for _, mark := range marks {
		if p := d.at(offset, len(mark)); p != nil && string(p) == mark {
			return true
		}
	}
	return false
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
