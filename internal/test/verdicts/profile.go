package verdicts

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// Profiled runs something, and writes a profile of the CPU to a file unless its name is empty.
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
