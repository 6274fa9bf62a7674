package fiorun

import (
	"errors"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// ErrNoData says that I/Os completed without their data. The kernel does that, at once
// and without an error, for I/Os beyond the end of a device that was removed or of a
// file that became shorter. With asynchronous engines, fio counts such I/Os and their
// latencies as good ones.
var ErrNoData = errors.New("I/Os came back without data: the target went away or became smaller")

// withoutData returns how many I/Os were counted although they moved less than a block,
// and how many there were in all. Both are 0 if that cannot be determined.
func (r Run) withoutData() (missed, all int64) {
	block := r.smallestBlock()
	if block <= 0 {
		return 0, 0
	}
	for _, job := range r.Output.Jobs {
		for _, d := range []*fio.Direction{job.Read, job.Write} {
			if d == nil {
				continue
			}
			// Unlike IOs, latencies cover exactly the I/Os whose bytes are counted.
			completed := max(d.Completion.Samples, d.Total.Samples)
			missed += max(0, completed-d.Bytes/block)
			all += completed
		}
	}
	return missed, all
}

// smallestBlock returns the smallest block size of a job in bytes; 0 if it is not
// clear.
func (r Run) smallestBlock() int64 {
	var smallest int64
	for i, s := range r.Job.Sections {
		if s.Name == fio.Global {
			continue
		}
		o := r.Job.Effective(i)
		ranges := slices.ContainsFunc(o.Extra, func(x fio.Option) bool {
			return strings.HasPrefix(x.Key, "bs") || strings.HasPrefix(x.Key, "blocksize")
		})
		if o.BlockBytes == nil || ranges {
			return 0
		}
		if smallest == 0 || *o.BlockBytes < smallest {
			smallest = *o.BlockBytes
		}
	}
	return smallest
}
