package suite

import (
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// durableWrite imitates etcd or the log of a database: it appends a little and waits
// until it is on the drive.
func durableWrite() Suite {
	s := Suite{
		Name: "durable-write", Question: "Can a log or etcd live here?", Writes: "small blocks all the time, to a file",
		Does: "Small sequential writes to a file that already has its full size, each followed by fdatasync.",
		Replaces: "fio --name=log --filename=/srv/log --ioengine=psync --rw=write --bs=4k --fdatasync=1 --time_based " +
			"--runtime=60",
	}
	runtime := timeKnob(&s, 60*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	jobs := jobsKnob(&s, "jobs", "logs written at once", 1)
	direct := declare(&s, "direct", "bypass the page cache, which few logs do", no, choice(yes, no))
	repeats := repeatsKnob(&s, 3)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		if targets[0].Raw {
			return nil, errors.New("it writes to a file: name a directory")
		}
		return steps([]load{{
			name: "durable-write", kind: fio.Write, blockBytes: block.of(v), depth: 1, jobs: jobs.of(v), engine: "psync", runtime: runtime.of(v),
			datasync: true, buffered: direct.of(v) == no,
		}}, repeats.of(v), targets...)
	}
	return s
}
