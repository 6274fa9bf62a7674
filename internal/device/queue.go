package device

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Queue says how the kernel queues I/O for a device, as far as that matters for its I/O controllers.
type Queue struct {
	// Known is false if the machine does not report it.
	Known bool
	// Requests says that the device turns I/Os into requests (blk-mq). Devices that only pass I/Os
	// on to others do not: md, most of dm, NVMe namespaces with several paths.
	Requests bool
	// CostControlled says that io.cost is switched on for the device.
	CostControlled bool
}

// QueueOf reads how the kernel queues for a device. Without io.cost in the kernel, CostControlled is false.
func QueueOf(fs sysfs.FS, d record.Device) (Queue, error) {
	fail := func(err error) (Queue, error) { return Queue{}, fmt.Errorf("read the queue of %s: %w", d.Name, err) }
	if d.Name == "" { // a directory on btrfs, overlay or NFS may have no device
		return fail(errors.New("the device has no name"))
	}
	dir := path.Join(blockDir, sysfs.DirName(d.Name))
	entries, err := fs.List(dir)
	if err != nil {
		return fail(err)
	}
	q := Queue{Known: true, Requests: slices.Contains(entries, "mq")}
	q.CostControlled, err = costControlled(fs, d.Number)
	if err != nil {
		return fail(err)
	}
	return q, nil
}

// costControlled looks a device up in io.cost.qos, whose lines are "259:0 enable=1 ctrl=…".
func costControlled(fs sysfs.FS, number string) (bool, error) {
	text, err := fs.Text("/sys/fs/cgroup/io.cost.qos")
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == number {
			return slices.Contains(words, "enable=1"), nil
		}
	}
	return false, nil
}
