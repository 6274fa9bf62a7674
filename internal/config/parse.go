package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes is the largest file that is read. A real file has a few KiB, and YAML may take a hundred times its
// size in memory.
const maxFileBytes = 1 << 20

// Check finds problems that only other packages can know, such as which suites exist. The caller adds the lines to
// them.
type Check func(Config) Problems

// Source is the content of a configuration file when it was read.
type Source struct {
	Path string // empty when there is no file
	// Data is the content. If the file is too large, it is cut at one byte over the limit.
	Data []byte
	// Modified is when the file was last written.
	Modified time.Time
	// Regular is true for a file that can be read again, unlike a pipe.
	Regular bool
}

// Read reads the configuration file at path. The filesystem may hang.
func Read(path string) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return Source{}, fmt.Errorf("load configuration: %w", err)
	}
	defer f.Close() // nothing was written, so nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return Source{}, fmt.Errorf("load configuration: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Source{}, fmt.Errorf("load configuration: %w", err)
	}
	return Source{Path: path, Data: data, Modified: info.ModTime(), Regular: info.Mode().IsRegular()}, nil
}

// Parse is like the function Parse, with the path in its errors.
func (s Source) Parse(checks ...Check) (Config, error) {
	c, err := Parse(bytes.NewReader(s.Data), checks...)
	if err != nil {
		return Config{}, fmt.Errorf("configuration %s:\n%w", s.Path, err)
	}
	return c, nil
}

// Parse reads a configuration from r, fills in defaults and validates it. An empty file is the default configuration.
// All problems with the content are returned together, as Problems.
func Parse(r io.Reader, checks ...Check) (Config, error) {
	c := Default()
	found, err := read(r, c.form())
	if err != nil {
		return Config{}, err
	}
	c.check(found)
	for _, check := range checks {
		for _, p := range check(c) {
			found.need(false, p)
		}
	}
	if err := found.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// read reads r into the form. It returns an error if r cannot be read or is not YAML.
func read(r io.Reader, form section) (*findings, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(data) > maxFileBytes {
		return nil, Problems{{Wrong: "the file is too large", Want: "at most " + FormatSize(maxFileBytes)}}
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	found := &findings{places: map[string]place{}}
	if root != nil {
		form.read(root, "", found)
	}
	return found, nil
}

// YAML returns the configuration in the form of the file, with the value of every key. Parse reads a valid
// configuration back to an equal Config.
func (c Config) YAML() ([]byte, error) { return Encode(c.form().write()) }

// Encode returns a part of the file as text.
func Encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(n), e.Close()); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return b.Bytes(), nil
}

// document returns the only document in data, or nil when there is none.
func document(data []byte) (*yaml.Node, error) {
	var first, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		err = d.Decode(&second)
		if err == nil {
			return nil, Problems{{
				Line: second.Line, Wrong: "a second document begins here", Want: "one document: no line of three dashes",
			}}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, Problems{syntaxProblem(data, err)}
	}
	return first.Content[0], nil
}
