package runfolder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// ErrNotOne says that a directory is not a folder of a run.
var ErrNotOne = errors.New("a directory without " + RunFile + ": not a folder of ssdprobe run --folder")

// ErrChanged says that a file has been changed since it was written.
var ErrChanged = errors.New("changed or damaged since it was written")

// checksums lists all files below dir in the format of sha256sum, in the order of their
// names.
func checksums(dir string) ([]byte, error) {
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sum.Sum(nil), name)
		return nil
	})
	return b.Bytes(), err
}

// Read returns the report of a folder, of at most limit bytes. Errors: ErrNotOne, ErrChanged
// if its checksum does not match, and those of the filesystem.
func Read(dir string, limit int64) ([]byte, error) {
	file, err := os.Open(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotOne
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("%s: more than %s: not a report", RunFile, units.BlockSize(limit))
	}
	sums, err := os.ReadFile(filepath.Join(dir, ChecksumsFile))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	for line := range strings.Lines(string(sums)) {
		if want, name, _ := strings.Cut(strings.TrimSpace(line), "  "); name == RunFile && want == hex.EncodeToString(sum[:]) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: %s has another checksum; to read it all the same, name %s itself",
		RunFile, ErrChanged, ChecksumsFile, filepath.Join(dir, RunFile))
}
