package runfolder

import (
	"fmt"
	"io"
	"path/filepath"
)

// Outputs keeps what fio itself reported, a file for each step, in a directory.
type Outputs struct {
	dir     string
	steps   int
	problem error
}

// NewOutputs keeps them in a new or empty directory. Errors: those of Check.
func NewOutputs(dir string) (*Outputs, error) {
	return &Outputs{dir: dir}, Check(dir)
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
