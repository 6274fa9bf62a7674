package cli

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// limitMemory makes the garbage collector keep the process below the memory limit of its control group, beyond
// which the kernel would kill it, unless GOMEMLIMIT is set. The Go runtime does not know control groups. A
// tenth of the limit is left for memory that the runtime does not count.
func limitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	group, err := counters.FindCGroup(sysfs.New("/"))
	if errors.Is(err, fs.ErrNotExist) {
		return // a kernel without control groups
	}
	var limit int64
	if err == nil {
		limit, err = group.MemoryLimit()
	}
	switch {
	case err != nil:
		log.Warn("the memory limit of the control group is not known; set GOMEMLIMIT if there is one", "err", err)
	case limit > 0:
		debug.SetMemoryLimit(limit / 10 * 9)
		log.Debug("memory limit taken from the control group", "limit_bytes", limit)
	}
}
