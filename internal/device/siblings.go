package device

import (
	"errors"
	"fmt"
	"os"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Siblings returns the hardware threads of the physical core that a CPU belongs to, including the
// CPU itself, in order. If the kernel does not report them, the CPU counts as a core of its own.
func Siblings(fs sysfs.FS, cpu int) ([]int, error) {
	siblings, err := readCPUList(fs, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	if errors.Is(err, os.ErrNotExist) {
		return []int{cpu}, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the topology of CPU %d: %w", cpu, err)
	}
	return siblings, nil
}
