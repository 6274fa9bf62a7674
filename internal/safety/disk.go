package safety

import (
	"errors"
	"fmt"
	"io"
)

// windowBytes is read at once, because marks lie near each other.
const windowBytes = 64 << 10

// disk reads only those parts of a device where marks may be.
type disk struct {
	r       io.ReaderAt
	size    int64
	windows map[int64][]byte // keyed by number
	err     error            // the first read error
}

func newDisk(r io.ReaderAt, sizeBytes int64) *disk {
	return &disk{r: r, size: sizeBytes, windows: map[int64][]byte{}}
}

// at returns n bytes at offset. It returns nil if they are not all on the device, or if
// they cannot be read; err then holds the reason.
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

// has reports whether one of the marks is at offset.
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
