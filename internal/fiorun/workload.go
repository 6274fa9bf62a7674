package fiorun

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// The values that fio uses if a job does not set them.
	defaultBlockBytes = 4096
	defaultMixRead    = 50
)

// Describe says what jobs that ran together did, according to the options that fio reports: in
// words, and as a workload. The workload is nil if the jobs differ, or if their options do not
// describe it completely. It is also nil for durable writes, which must not become points of a
// sweep of plain writes. If on is true, the words name the files, and the workload has them as
// its targets.
func Describe(jobs []fio.JobResult, options []fio.Options, on bool) (plan string, w *record.Workload) {
	w = workload(jobs, options)
	if w == nil {
		return planOfEach(jobs, options), nil
	}
	if on {
		w.Targets = Files(options[0])
	}
	plan = planOf(w, options[0])
	if w.Direction != record.Read && synced(options[0]) != "" {
		return plan, nil
	}
	return plan, w
}

// planOfEach describes jobs that are not one load: each distinct plan, with its files if these
// differ.
func planOfEach(jobs []fio.JobResult, options []fio.Options) string {
	differ := slices.ContainsFunc(options, func(o fio.Options) bool { return !slices.Equal(Files(o), Files(options[0])) })
	var plans []string
	for i := range jobs {
		w := workload(jobs[i:i+1], options[i:i+1])
		if w != nil && differ {
			w.Targets = Files(options[i])
		}
		if plan := planOf(w, options[i]); !slices.Contains(plans, plan) {
			plans = append(plans, plan)
		}
	}
	return strings.Join(plans, " + ")
}

// planOfSections describes sections that fio summed (group_reporting), by the options in the job.
func planOfSections(options []fio.Options) string {
	plan, _ := Describe(make([]fio.JobResult, len(options)), options, false)
	return plan
}

// workload returns what the jobs of a group did as a workload; nil if they are not one load.
func workload(jobs []fio.JobResult, options []fio.Options) *record.Workload {
	var all record.Workload
	for i, job := range jobs {
		w, ok := one(job, options[i])
		switch {
		case !ok:
			return nil
		case i == 0:
			all = w
		case !alike(all, w), !slices.Equal(Files(options[i]), Files(options[0])), synced(options[i]) != synced(options[0]):
			return nil
		case options[i].GroupReporting == nil || !*options[i].GroupReporting:
			all.Jobs = max(len(jobs), w.Jobs) // each job is reported by itself
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
		OffsetBytes: valueOf(o.OffsetBytes, 0), Engine: DefaultEngine, Buffered: buffered(o),
	}
	if o.IOEngine != "" {
		w.Engine = o.IOEngine
	}
	if Synchronous(w.Engine) {
		w.QueueDepth = 1
	}
	if SeveralSections(job, o) {
		return w, false
	}
	for _, x := range o.Extra {
		switch {
		case x.Key == "sync", x.Key == "buffered": // see synced and buffered
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

// shapes reports whether an option changes a load in a way that Workload cannot express.
func shapes(key string) bool {
	return slices.ContainsFunc([]string{
		"bs", "block", "rw", "readwrite", "rate", "think", "zone", "random_distribution", "latency_target", "flow", "iodepth", "numjobs", "direct", "rwmix", "percentage_random", "sync",
	}, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) && !strings.HasPrefix(key, "iodepth_batch")
}

// SeveralSections reports whether fio summed more jobs than the options say: with
// group_reporting, it prints the options of only the first section of a group. The run time of a
// group is the sum over its jobs, while that of a direction is the longest of them.
func SeveralSections(job fio.JobResult, o fio.Options) bool {
	const tolerance = 1.1
	var longest time.Duration
	for _, d := range []*fio.Direction{job.Read, job.Write, job.Trim} {
		if d != nil {
			longest = max(longest, d.Runtime)
		}
	}
	return job.Runtime.Seconds() > tolerance*longest.Seconds()*float64(max(1, valueOf(o.NumJobs, 1)))
}

// synced says how writes are made durable; empty if they are not.
func synced(o fio.Options) string {
	for _, call := range []struct {
		name  string
		every int
	}{{"fdatasync", valueOf(o.Fdatasync, 0)}, {"fsync", valueOf(o.Fsync, 0)}} {
		switch {
		case call.every == 1:
			return call.name + " after each" // the wording of ssdprobe's own plans
		case call.every > 1:
			return fmt.Sprintf("%s after every %d", call.name, call.every)
		}
	}
	for _, x := range slices.Backward(o.Extra) {
		if x.Key == "sync" && x.Value != "0" && x.Value != "none" {
			return strings.TrimSuffix("sync="+x.Value, "=")
		} else if x.Key == "sync" {
			break
		}
	}
	return ""
}

// BufferedText says that jobs went through the page cache without waiting for the drive; empty if
// none did.
func BufferedText(options []fio.Options) string {
	if !slices.ContainsFunc(options, func(o fio.Options) bool { return buffered(o) && synced(o) == "" && o.IOEngine != "null" }) {
		return ""
	}
	return "fio went through the page cache (direct=0), so memory may have answered in place of the drive: repeat with direct=1."
}

// buffered reports whether the I/O of a job goes through the page cache. Engines that send commands to the drive never do.
func buffered(o fio.Options) bool {
	if slices.Contains([]string{"io_uring_cmd", "sg"}, o.IOEngine) {
		return false
	}
	through := !valueOf(o.Direct, false)
	for _, x := range o.Extra {
		if x.Key == "buffered" {
			through = x.Value != "0"
		}
	}
	return through
}

// agrees reports whether the figures can belong to this load: with group_reporting, fio prints
// the options of one section beside the figures of several.
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

// planOf returns a plan in the form of ssdprobe's own suites if the load is known, and otherwise
// lists the most informative options.
func planOf(w *record.Workload, o fio.Options) string {
	if w != nil {
		text := w.String()
		if w.Buffered {
			text += ", page cache"
		}
		if sync := synced(o); sync != "" && w.Direction != record.Read {
			text += ", " + sync
		}
		if len(w.Targets) > 0 {
			text += ", on " + strings.Join(w.Targets, " and ")
		}
		return text
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
	if o.Fdatasync != nil {
		add("fdatasync", strconv.Itoa(*o.Fdatasync))
	}
	if o.Fsync != nil {
		add("fsync", strconv.Itoa(*o.Fsync))
	}
	if o.IODepth != nil {
		add("iodepth", strconv.Itoa(*o.IODepth))
	}
	if o.NumJobs != nil {
		add("numjobs", strconv.Itoa(*o.NumJobs))
	}
	return strings.Join(texts, " ")
}

// Files returns the paths that a job names; empty if fio chose the names itself.
func Files(o fio.Options) []string {
	names, directory := o.Filenames, ""
	for _, x := range o.Extra {
		switch {
		case x.Key == "directory":
			directory = x.Value
		case x.Key == "filename" && len(o.Filenames) == 0:
			names = []string{x.Value}
		}
	}
	if directory == "" {
		return names
	}
	if len(names) == 0 {
		return []string{directory}
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = filepath.Join(directory, name)
	}
	return all
}

func valueOf[T any](at *T, otherwise T) T {
	if at == nil {
		return otherwise
	}
	return *at
}
