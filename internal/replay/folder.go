package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/judge"
)

// describedIn is the file in a folder that describes its drives.
const describedIn = "drives.json"

// Drive is a drive of a node with its history.
type Drive struct {
	judge.Drive
	History Source
}

// Folder is a recorded node: each of its CSV files is the history of a drive.
type Folder struct {
	Drives []Drive
	files  []io.Closer
}

// Close closes the files.
func (f *Folder) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// OpenFolder opens the histories of a node's drives. A drive has the name of its file without
// .csv. All drives are of one model, unless a file drives.json in the folder says otherwise.
// That file holds an object whose keys are the names of the drives:
//
//	{"nvme0n1": {"model": "X", "size_bytes": 960197124096, "rotational": false, "group": ""}}
func OpenFolder(path string) (*Folder, error) {
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("open a node's histories: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".csv" })
	if len(entries) == 0 {
		return nil, fmt.Errorf("open a node's histories: %s has no file whose name ends in .csv", path)
	}
	described, err := descriptions(filepath.Join(path, describedIn))
	if err != nil {
		return nil, fmt.Errorf("open a node's histories: %w", err)
	}
	f := &Folder{}
	for _, e := range entries {
		if err := f.open(filepath.Join(path, e.Name()), described); err != nil {
			return nil, errors.Join(fmt.Errorf("open a node's histories: %w", err), f.Close())
		}
	}
	for name := range described {
		if !slices.ContainsFunc(f.Drives, func(d Drive) bool { return d.ID == name }) {
			return nil, errors.Join(fmt.Errorf("open a node's histories: %s describes %q, but %s.csv is not there", describedIn, name, name), f.Close())
		}
	}
	return f, nil
}

func (f *Folder) open(path string, described map[string]description) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	history, err := NewReader(path, bufio.NewReaderSize(file, 256<<10))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".csv")
	d := described[name]
	f.Drives = append(f.Drives, Drive{
		Drive:   judge.Drive{ID: name, Model: d.Model, SizeBytes: d.SizeBytes, Rotational: d.Rotational, Group: d.Group},
		History: history,
	})
	return nil
}

// description is the entry of a drive in drives.json.
type description struct {
	Model      string `json:"model"`
	SizeBytes  int64  `json:"size_bytes"`
	Rotational bool   `json:"rotational"`
	Group      string `json:"group"`
}

func descriptions(path string) (map[string]description, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all map[string]description
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w; want an object like {\"nvme0n1\": {\"model\": \"X\", \"size_bytes\": 960197124096}}", path, err)
	}
	return all, nil
}
