package counters

import (
	"errors"
	"os"
	"path"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Queue is what the request queue of a device lets through
// (Documentation/ABI/stable/sysfs-block). What the kernel does not say is 0.
type Queue struct {
	// Requests are those that each hardware queue can have: nr_requests. A device that is
	// made of others has no requests of its own, and 0.
	Requests int
	// HardwareQueues is the number of queues of blk-mq.
	HardwareQueues int
	// MaxRequestBytes is the most that one request may have: max_sectors_kb.
	MaxRequestBytes int64
}

// ReadQueue reads the queue of the disk with a number, "259:0".
func ReadQueue(fs sysfs.FS, number string) (Queue, error) {
	dir := path.Join("/sys/dev/block", number)
	var q Queue
	kb, err := fs.Int(path.Join(dir, "queue/max_sectors_kb"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Queue{}, err
	}
	q.MaxRequestBytes = kb << 10
	queues, err := fs.List(path.Join(dir, "mq"))
	if errors.Is(err, os.ErrNotExist) { // dm, md, the head of a multipath namespace: their nr_requests means nothing
		return q, nil
	}
	if err != nil {
		return Queue{}, err
	}
	q.HardwareQueues = len(queues)
	requests, err := fs.Int(path.Join(dir, "queue/nr_requests"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Queue{}, err
	}
	q.Requests = int(requests)
	return q, nil
}
