package fiorun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// depthReached is the share of the requested depth from which on it counts as reached.
	// The rest is the time between a completion and the next submission.
	depthReached = 0.8
	// depthUnexplained is the share below which the depth is reported even if nothing
	// explains it.
	depthUnexplained = 0.5
	// depthForeign is the share by which the device may have done more than fio.
	depthForeign = 0.2
	// othersRequests is how many requests of others are always tolerated, like othersBytes.
	othersRequests = othersBytes / 4096
	// submitting is the share of their CPUs from which on jobs do little else than submit.
	submitting = 0.7
	// splitFrom is the number of requests per I/O from which on most I/Os were split, and
	// mergedTo the number up to which many were merged.
	splitFrom, mergedTo = 1.5, 0.8
)

// DefaultEngine is the engine that fio uses on Linux if a job does not name one.
const DefaultEngine = "psync"

// Synchronous reports whether an engine (fio's default if it is empty) does one I/O at a
// time in each job, whatever iodepth says.
func Synchronous(engine string) bool {
	return slices.Contains([]string{"", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}, engine)
}

// depthLook is what is known about the depth of one group of jobs.
type depthLook struct {
	options   fio.Options
	perJob    int
	jobs      int
	fioMost   float64 // highest mean depth according to fio's own levels
	kept      float64 // mean depth by the rate and the latency that fio measured (Little's law); 0 if unknown
	used      float64 // share of their CPUs that the jobs used
	waited    float64 // share of the time for which they waited for a CPU
	ios       float64 // including those of the ramp time
	disk      counters.Disk
	queue     counters.Queue
	mean      float64 // 0 if unknown
	blockSize int64
}

// depth returns the depth of the group with this number, out of groups in all; nil if the
// job does not say what was requested of each group.
func (r Run) depth(s record.Step, jobs []fio.JobResult, group, groups int) *record.Depth {
	var sections []int
	for i, section := range r.Job.Sections {
		if section.Name != fio.Global {
			sections = append(sections, i)
		}
	}
	if len(sections) != groups {
		return nil
	}
	l := depthLook{options: r.Job.Effective(sections[group]), perJob: 1, jobs: 1, blockSize: 4096}
	if l.options.IODepth != nil {
		l.perJob = *l.options.IODepth
	}
	if l.options.NumJobs != nil {
		l.jobs = max(1, *l.options.NumJobs)
	}
	if l.options.BlockBytes != nil {
		l.blockSize = *l.options.BlockBytes
	}
	levels := depthLevels(jobs)
	l.fioMost = fio.MostDepth(levels, l.perJob) * float64(l.jobs)
	for _, r := range []*record.Result{s.Read, s.Write} {
		if r != nil {
			l.kept += r.IOPS * r.Mean.Seconds()
		}
	}
	l.used = (s.UserCPU + s.SystemCPU) / float64(min(l.jobs, r.cpus()))
	l.waited = s.Disturbance.CPUWaitRatio
	if len(r.Seen.Groups) == groups {
		l.see(s, jobs, r.Seen.Groups[group])
	}
	d := record.Depth{Asked: l.perJob * l.jobs, Mean: l.mean}
	for _, level := range levels {
		d.Levels = append(d.Levels, record.DepthLevel{Least: level.Least, Share: level.Share})
	}
	d.Limit, d.Evidence = l.limit(float64(d.Asked))
	return &d
}

// depthLevels returns the levels of all jobs of a group, weighted by their I/Os.
func depthLevels(jobs []fio.JobResult) []fio.DepthLevel {
	var all []fio.DepthLevel
	var sum float64
	for _, job := range jobs {
		n := float64(iosOf(job))
		for _, level := range job.Depths {
			i := slices.IndexFunc(all, func(l fio.DepthLevel) bool { return l.Least == level.Least })
			if i < 0 {
				all = append(all, fio.DepthLevel{Least: level.Least})
				i = len(all) - 1
			}
			all[i].Share += n * level.Share
			sum += n * level.Share
		}
	}
	for i := range all {
		all[i].Share /= sum
	}
	slices.SortFunc(all, func(a, b fio.DepthLevel) int { return a.Least - b.Least })
	return all
}

func iosOf(job fio.JobResult) int64 {
	var n int64
	for _, d := range []*fio.Direction{job.Read, job.Write, job.Trim} {
		if d != nil {
			n += d.IOs
		}
	}
	return n
}

// see derives the group's depth from the device's counters. It ignores them if the page
// cache was involved, the device does not count, its time may have wrapped around, or others
// used it too: its depth is then not that of the group.
func (l *depthLook) see(s record.Step, jobs []fio.JobResult, seen SeenGroup) {
	span := s.Duration + rampOf(l.options)
	if seen.Disk == nil || s.Duration <= 0 || l.options.Direct == nil || !*l.options.Direct {
		return
	}
	if most := float64(l.perJob*l.jobs) * float64(span); most >= float64(counters.TimeWraps) {
		return
	}
	var bytes, ios int64
	for _, job := range jobs {
		ios += iosOf(job)
		for _, d := range []*fio.Direction{job.Read, job.Write, job.Trim} {
			bytes += int64(bytesOf(d))
		}
	}
	// fio does not count the I/Os of the ramp time, which ran at about the same rate.
	whole := float64(span) / float64(s.Duration)
	own, all := whole*float64(bytes), float64(sectorsOf(*seen.Disk).Bytes())
	if all < own/2 || all > own*(1+depthForeign)+othersBytes {
		return
	}
	// Small requests of others hardly matter in bytes, but as much as any in the depth.
	if most := seen.Queue.MaxRequestBytes; most > 0 {
		requests := whole * max(float64(ios), float64(bytes)/float64(most))
		if float64(seen.Disk.ReadIOs+seen.Disk.WriteIOs) > requests*(1+depthForeign)+othersRequests {
			return
		}
	}
	l.disk, l.queue, l.ios = *seen.Disk, seen.Queue, whole*float64(ios)
	l.mean = float64(seen.Disk.WeightedTime) / float64(span)
}

func rampOf(o fio.Options) time.Duration {
	if o.RampTime == nil {
		return 0
	}
	return *o.RampTime
}

// limit returns the most likely reason why the depth differs from the requested one.
func (l *depthLook) limit(asked float64) (reason record.DepthLimit, evidence string) {
	requests := float64(l.disk.ReadIOs + l.disk.WriteIOs)
	direct := l.options.Direct != nil && *l.options.Direct
	if l.perJob > 1 {
		switch engine := l.options.IOEngine; {
		case Synchronous(engine):
			return record.DepthEngine, fmt.Sprintf("the engine %s does one I/O at a time in each job", cmp.Or(engine, DefaultEngine))
		case engine == "libaio" && !direct:
			return record.DepthEngine, "the engine libaio does one I/O at a time through the page cache"
		}
	}
	most := float64(l.queue.Requests * min(l.jobs, max(1, l.queue.HardwareQueues)))
	limited := most > 0 && asked > most && l.mean <= 1.1*most
	switch {
	case l.pace() != "" && l.kept > 0 && l.kept < depthUnexplained*asked:
		return record.DepthJob, l.pace()
	case l.mean == 0:
		return "", ""
	case l.queue.MaxRequestBytes > 0 && l.blockSize > l.queue.MaxRequestBytes && requests >= splitFrom*l.ios:
		return record.DepthSplit, fmt.Sprintf("max_sectors_kb is %d, so the kernel made %.1f requests of each I/O of %s",
			l.queue.MaxRequestBytes>>10, requests/l.ios, units.BlockSize(l.blockSize))
	case asked == 1, l.mean >= depthReached*asked:
		return "", ""
	case limited:
		return record.DepthRequests, l.requestsText(most)
	case requests <= mergedTo*l.ios && float64(l.disk.ReadMerges+l.disk.WriteMerges) >= (1-mergedTo)*l.ios:
		return record.DepthMerged, fmt.Sprintf("the kernel merged neighbouring I/Os, %.1f to a request", l.ios/max(1, requests))
	case l.fioMost < depthReached*asked:
		return record.DepthJob, fmt.Sprintf("the jobs themselves kept at most %.1f in flight", l.fioMost)
	case l.syncs():
		return record.DepthJob, "writes wait for syncs"
	case l.submission() != "":
		return record.DepthSubmission, l.submission()
	case l.mean < depthUnexplained*asked:
		return record.DepthUnknown, "not explained: the jobs may submit late, or a layer above the device may hold I/Os back"
	}
	return "", ""
}

// pace returns the option by which the jobs wait between I/Os; empty if there is none.
func (l *depthLook) pace() string {
	for _, x := range l.options.Extra {
		if slices.Contains([]string{"rate", "rate_iops", "thinktime"}, x.Key) && strings.Trim(x.Value, "0,") != "" {
			return fmt.Sprintf("the jobs pace their I/Os (%s=%s)", x.Key, x.Value)
		}
	}
	return ""
}

// submission returns why the jobs cannot submit more; empty if they can.
func (l *depthLook) submission() string {
	switch {
	case l.used >= submitting:
		return "the device answers faster than the jobs submit"
	case l.waited > waitedShare:
		return fmt.Sprintf("the jobs waited for a CPU for %s of the time", units.Percent(l.waited))
	}
	return ""
}

// requestsText says how many requests the kernel accepts, where most is the sum over its
// queues. If these were hardly ever full, it adds a further reason.
func (l *depthLook) requestsText(most float64) string {
	text := fmt.Sprintf("nr_requests is %d", l.queue.Requests)
	if most > float64(l.queue.Requests) {
		text += fmt.Sprintf(" in each of %d hardware queues", l.queue.HardwareQueues)
	}
	if why := l.submission(); why != "" && l.mean < most/2 {
		text += ", and " + why
	}
	return text
}

// syncs reports whether syncs follow writes.
func (l *depthLook) syncs() bool {
	for _, every := range []*int{l.options.Fsync, l.options.Fdatasync} {
		if every != nil && *every > 0 {
			return true
		}
	}
	return false
}

// sectorsOf returns how many sectors a device read, wrote and discarded.
func sectorsOf(d counters.Disk) counters.Sectors512 {
	n := d.ReadSectors + d.WriteSectors
	if d.Discards != nil {
		n += d.Discards.Sectors
	}
	return n
}
