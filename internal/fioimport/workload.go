package fioimport

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// What fio takes on Linux where a job does not say it.
	defaultEngine     = "psync"
	defaultBlockBytes = 4096
	defaultMixRead    = 50
)

// synchronous engines have one I/O in flight, whatever iodepth says.
func synchronous(engine string) bool {
	return slices.Contains([]string{"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}, engine)
}

// workload is what jobs of a group did in figures; nil when they differ, or when their
// options do not say all of it.
func workload(jobs []fio.JobResult, options []fio.Options) *record.Workload {
	var all record.Workload
	for i, job := range jobs {
		w, ok := one(job, options[i])
		switch {
		case !ok:
			return nil
		case i == 0:
			all = w
		case !alike(all, w):
			return nil
		case options[i].GroupReporting == nil || !*options[i].GroupReporting:
			all.Jobs = max(len(jobs), w.Jobs) // each stands for itself
		default:
			all.Jobs += w.Jobs
		}
	}
	return &all
}

func alike(a, b record.Workload) bool {
	return a.Direction == b.Direction && a.Pattern == b.Pattern && a.BlockBytes == b.BlockBytes && a.QueueDepth == b.QueueDepth &&
		a.ReadPercent == b.ReadPercent && a.Engine == b.Engine && a.Buffered == b.Buffered
}

func one(job fio.JobResult, o fio.Options) (record.Workload, bool) {
	w := record.Workload{
		Pattern: record.Sequential, BlockBytes: valueOf(o.BlockBytes, defaultBlockBytes), QueueDepth: valueOf(o.IODepth, 1), Jobs: max(1, valueOf(o.NumJobs, 1)),
		OffsetBytes: valueOf(o.OffsetBytes, 0), Engine: defaultEngine, Buffered: !valueOf(o.Direct, false),
	}
	if o.IOEngine != "" {
		w.Engine = o.IOEngine
	}
	if synchronous(w.Engine) {
		w.QueueDepth = 1
	}
	for _, x := range o.Extra {
		switch {
		case x.Key == "buffered":
			w.Buffered = x.Value != "0"
		case shapes(x.Key):
			return w, false
		}
	}
	switch o.RW {
	case "", fio.Read, fio.RandRead:
		w.Direction = record.Read
	case fio.Write, fio.RandWrite:
		w.Direction = record.Write
	case fio.ReadWrite, fio.RandRW, "readwrite":
		w.ReadPercent = valueOf(o.RWMixRead, defaultMixRead)
	default:
		return w, false
	}
	if strings.HasPrefix(string(o.RW), "rand") {
		w.Pattern = record.Random
	}
	return w, agrees(w, job)
}

// shapes reports whether an option changes a load in a way that Workload does not carry.
func shapes(key string) bool {
	return slices.ContainsFunc([]string{
		"bs", "block", "rw", "readwrite", "rate", "think", "zone", "random_distribution", "latency_target", "flow", "iodepth", "numjobs", "direct", "rwmix", "percentage_random",
	}, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) && !strings.HasPrefix(key, "iodepth_batch")
}

// agrees reports whether the figures can be of that load: group_reporting gives the
// options of one section beside the figures of several.
func agrees(w record.Workload, job fio.JobResult) bool {
	for _, d := range []struct {
		got  *fio.Direction
		none bool
	}{{job.Read, w.Direction == record.Write}, {job.Write, w.Direction == record.Read}} {
		if d.got == nil || d.got.IOs == 0 {
			continue
		}
		if d.none || math.Abs(float64(d.got.Bytes)/float64(d.got.IOs)/float64(w.BlockBytes)-1) > 0.01 {
			return false
		}
	}
	return true
}

// plan is as in ssdprobe's own runs where the load is known, and else the options that
// say most of it.
func plan(s record.Step, o fio.Options) string {
	if w := s.Workload; w != nil {
		if w.Buffered {
			return w.String() + ", page cache"
		}
		return w.String()
	}
	texts := []string{"fio job"}
	add := func(key, value string) {
		if value != "" {
			texts = append(texts, key+"="+value)
		}
	}
	add("rw", string(o.RW))
	if o.BlockBytes != nil {
		add("bs", strconv.FormatInt(*o.BlockBytes, 10))
	}
	for _, x := range o.Extra {
		if shapes(x.Key) {
			add(x.Key, x.Value)
		}
	}
	if o.IODepth != nil {
		add("iodepth", strconv.Itoa(*o.IODepth))
	}
	if o.NumJobs != nil {
		add("numjobs", strconv.Itoa(*o.NumJobs))
	}
	return strings.Join(texts, " ")
}

func valueOf[T any](at *T, otherwise T) T {
	if at == nil {
		return otherwise
	}
	return *at
}
