package runfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Outputs keeps what fio itself reported, a file for each step, in a directory.
type Outputs struct {
	dir     string
	made    bool // the directory was not there before
	steps   int
	problem error
}

// NewOutputs keeps them in a new or empty directory, which is there from now on. Errors:
// those of Check, and those of the filesystem, which is tried out.
func NewOutputs(dir string) (*Outputs, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	err := os.Mkdir(dir, 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	o := &Outputs{dir: dir, made: err == nil}
	file, err := os.CreateTemp(dir, "*.trial")
	if err != nil {
		return nil, errors.Join(err, o.Discard())
	}
	return o, errors.Join(file.Close(), os.Remove(file.Name()))
}

// Discard removes the directory when it was made and nothing was kept.
func (o *Outputs) Discard() error {
	if o == nil || !o.made || o.steps > 0 {
		return nil
	}
	return os.Remove(o.dir)
}

// Keep adds what fio reported of a step. What goes wrong is told by Err.
func (o *Outputs) Keep(step, _ string, output []byte) {
	o.steps++
	err := writeNew(filepath.Join(o.dir, stepFile(o.steps, step)+".json"), func(w io.Writer) error {
		_, err := w.Write(output)
		return err
	})
	if err != nil && o.problem == nil {
		o.problem = fmt.Errorf("keep what fio reported: %w", err)
	}
}

// Err is the first thing that went wrong.
func (o *Outputs) Err() error { return o.problem }
