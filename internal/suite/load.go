package suite

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// maxDepth is more than any device keeps in flight per queue.
const maxDepth = 65535

// load is one kind of I/O for a time.
type load struct {
	kind       fio.RW
	blockBytes int64
	depth      int
	engine     string
	runtime    time.Duration
}

// job is the load on the whole target, past the page cache.
//
// Jobs are threads: then fio is one process, and no job outlives it. Random
// offsets differ from run to run, so that no cache knows them yet, and are drawn
// without a map of the blocks done, which for a large drive takes long to make.
// What the page cache holds is left there: direct I/O does not look at it, and
// for a raw device invalidating means to flush it for everyone.
func (l load) job(name string, t Target) (fio.Job, error) {
	size, err := t.room(l.blockBytes, l.depth)
	if err != nil {
		return fio.Job{}, err
	}
	return fio.Job{Sections: []fio.Section{{Name: name, Options: fio.Options{
		Filenames: []string{t.Path}, RW: l.kind, IOEngine: l.engine, Direct: new(true), Thread: new(true),
		BlockBytes: new(l.blockBytes), OffsetBytes: new(t.OffsetBytes), SizeBytes: new(size), IODepth: new(l.depth),
		TimeBased: new(true), Runtime: new(l.runtime), NoRandomMap: new(true), LatPercentiles: new(true),
		AllowFileCreate: new(false), Invalidate: new(false),
		Extra: []fio.Option{{Key: "randrepeat", Value: "0"}},
	}}}}, nil
}

// name is "random-read-qd32".
func (l load) name() string {
	return fmt.Sprintf("%s-qd%d", strings.ReplaceAll(l.kindText(), " ", "-"), l.depth)
}

// plan is "4 KiB random read, depth 32".
func (l load) plan() string {
	return fmt.Sprintf("%s %s, depth %d", sizeText(l.blockBytes), l.kindText(), l.depth)
}

func (l load) kindText() string {
	if l.kind == fio.RandRead {
		return "random read"
	}
	return "sequential read"
}

// step is the load as a step of a plan.
func (l load) step(t Target) (Step, error) {
	job, err := l.job(l.name(), t)
	if err != nil {
		return Step{}, err
	}
	return Step{Name: l.name(), Plan: l.plan(), Job: job, Expected: l.runtime}, nil
}

// sizeText is "4 KiB": as config writes it, with a space.
func sizeText(bytes int64) string {
	return strings.Replace(humanize.IBytes(uint64(bytes)), ".0 ", " ", 1)
}
