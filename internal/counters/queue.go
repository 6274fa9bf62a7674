package counters

import (
	"errors"
	"os"
	"path"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Queue holds the limits of a device's request queue (Documentation/ABI/stable/sysfs-block). A
// value that the kernel does not report is 0.
type Queue struct {
	// Requests is the number of requests that each hardware queue can hold: nr_requests. It is 0
	// for a device that is made of others, which has no requests of its own.
	Requests int
	// HardwareQueues is the number of queues of blk-mq.
	HardwareQueues int
	// MaxRequestBytes is the largest size of one request: max_sectors_kb.
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
