package runfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Outputs stores fio's own reports in a directory, one file for each step.
type Outputs struct {
	dir     string
	made    bool // the directory did not exist before
	steps   int
	problem error
}

// NewOutputs stores reports in a new or empty directory, which exists from then on.
// Errors: those of Check, and those of the filesystem; it tests that the directory is
// writable.
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

// Discard removes the directory if it was made here and nothing was stored.
func (o *Outputs) Discard() error {
	if o == nil || !o.made || o.steps > 0 {
		return nil
	}
	return os.Remove(o.dir)
}

// Keep adds fio's report on a step. Err returns what goes wrong here.
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

// Err returns the first error of Keep.
func (o *Outputs) Err() error { return o.problem }
