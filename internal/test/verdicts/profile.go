package verdicts

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// Profiled runs a function, and writes a profile of the CPU to the file at path unless that is empty.
func Profiled(path string, run func() error) error {
	if path == "" {
		return run()
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	err = run()
	pprof.StopCPUProfile()
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
