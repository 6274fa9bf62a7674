package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	headerVersion = 1
	headerBytes   = 4096
	// dataStart is the offset, in bytes, of the data in a probe file. It is large
	// enough to be aligned to whatever the file lies on.
	dataStart = 1 << 20
)

// header is the first block of a probe file, as human-readable text. It is written
// after all the data is on the drive, so a file that has a header is full.
type header struct {
	Made    string `json:"made_by"`
	Note    string `json:"note"`
	Version int    `json:"version"`
	Seed    uint64 `json:"seed"`
	Size    int64  `json:"size_bytes"`
}

const (
	headerMade = "ssdprobe"
	headerNote = "probe file of random data; safe to delete when no ssdprobe uses it"
)

var errNoHeader = errors.New("not a probe file")

func (h header) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode the header of a probe file: %w", err)
	}
	if len(text) >= headerBytes {
		return nil, fmt.Errorf("encode the header of a probe file: %d bytes do not fit in %d", len(text), headerBytes)
	}
	block := bytes.Repeat([]byte{'\n'}, headerBytes)
	copy(block, text)
	return block, nil
}

// IsOurs reports whether ssdprobe made the file at path: whether it has the header of a probe file, of any version.
func IsOurs(path string) (bool, error) {
	f, err := OpenOurs(path)
	if errors.Is(err, ErrForeign) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, f.Close()
}

// OpenOurs opens a file that ssdprobe made, for reading. The error is ErrForeign for another one.
func OpenOurs(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	block, err := io.ReadAll(io.LimitReader(f, headerBytes))
	if err == nil {
		if _, err = parseHeader(block); errors.Is(err, errNoHeader) {
			err = ErrForeign
		} else {
			err = nil // of any version
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// parseHeader returns errNoHeader for a block that ssdprobe did not write, and
// ErrDamaged for a header of ssdprobe with an impossible size.
func parseHeader(block []byte) (header, error) {
	var h header
	if err := json.Unmarshal(bytes.TrimRight(block, "\n"), &h); err != nil || h.Made != headerMade {
		return header{}, errNoHeader
	}
	if h.Version != headerVersion {
		return header{}, fmt.Errorf("the probe file is of version %d and this ssdprobe knows version %d: remove it or upgrade",
			h.Version, headerVersion)
	}
	if h.Size <= dataStart || h.Size%contentBlock != 0 {
		return header{}, fmt.Errorf("%w: its header gives a size of %d bytes, which cannot be", ErrDamaged, h.Size)
	}
	return h, nil
}
