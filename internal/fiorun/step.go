package fiorun

import (
	"cmp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// Steps converts the run to records: one step for each group of jobs that fio reports on
// (sections form a group until one of them has stonewall or new_group). A step is named after
// its jobs, and its plan is what Describe says about them; the caller may replace it by a
// better one.
//
// If the job has lat_percentiles=1, latencies count from before the submission of an I/O to
// its completion (fio's lat). Otherwise they count from after the submission (clat), of which
// fio keeps distributions by default. Min, mean and max are of the same latency. IOPS and
// bandwidth of jobs are summed.
func (r Run) Steps() []record.Step {
	var steps []record.Step
	groups, options, asked := Groups(r.Output), Options(r.Output), r.Job.Groups()
	for i, jobs := range groups {
		s := r.step(jobs, i, len(groups))
		if text := BufferedText(options[i]); text != "" {
			s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnMethod, Text: text})
		}
		if !CountsSubmission(jobs) {
			s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnMethod, Text: "Latencies do not count the time of submission (clat), " +
				"while those of suites do (lat): remove lat_percentiles=0 and what disables latencies from the job."})
		}
		if i < len(asked) && len(asked[i]) > len(jobs) { // fio summed sections, and prints only the options of the first
			s.Plan = planOfSections(asked[i])
		} else {
			s.Plan, s.Workload = Describe(jobs, options[i], false)
		}
		steps = append(steps, s)
	}
	return steps
}

// Options returns the options of the jobs of each group, as reported by fio.
func Options(out fio.Output) [][]fio.Options {
	job, i := out.Job(), 1 // the first section is the global one
	var all [][]fio.Options
	for _, jobs := range Groups(out) {
		var options []fio.Options
		for range jobs {
			options, i = append(options, job.Effective(i)), i+1
		}
		all = append(all, options)
	}
	return all
}

// Groups returns the jobs that ran together on one host, group by group.
func Groups(out fio.Output) [][]fio.JobResult {
	var groups [][]fio.JobResult
	for jobs := out.Jobs; len(jobs) > 0; {
		first := jobs[0]
		end := slices.IndexFunc(jobs, func(j fio.JobResult) bool {
			return j.Group != first.Group || j.Host != first.Host || j.Port != first.Port
		})
		if end < 0 {
			end = len(jobs)
		}
		groups = append(groups, jobs[:end])
		jobs = jobs[end:]
	}
	return groups
}

// step returns the step for the group with this number, out of groups in all.
func (r Run) step(jobs []fio.JobResult, group, groups int) record.Step {
	s := Reported(jobs)
	s.JobFile = r.JobFile
	if groups == 1 { // the interrupts were counted for all groups together
		s.InterruptsPerIO, s.InterruptsPerSecond = r.interruptsPerIO(), r.interruptsPerSecond(s)
	}
	s.Disturbance.Throttled = r.Seen.Throttled
	if share := r.Seen.CPUWait; share != nil {
		s.Disturbance.CPUWaitRatio = *share
		s.Disturbance.CPUWait = time.Duration(*share * float64(s.Duration))
	}
	s.OthersRatio = r.othersRatio(s)
	s.Depth = r.depth(s, jobs, group, groups)
	s.Warnings = r.warnings(s, jobs)
	return s
}

// Reported returns a step with what fio itself reports about jobs that ran together, without
// what was watched besides fio and without warnings.
func Reported(jobs []fio.JobResult) record.Step {
	s := record.Step{InterruptsPerIO: -1}
	var names []string
	var read, write []fio.Direction
	var syncs []fio.Latency
	for _, job := range jobs {
		if !slices.Contains(names, job.Name) {
			names = append(names, job.Name)
		}
		for _, d := range []*fio.Direction{job.Read, job.Write} {
			if d != nil {
				s.Duration = max(s.Duration, d.Runtime)
			}
		}
		read, write = withIO(read, job.Read), withIO(write, job.Write)
		if job.Sync != nil && job.Sync.Samples > 0 {
			syncs = append(syncs, *job.Sync)
		}
		if n := failures(job); n > 0 {
			if s.Errors == nil {
				s.Errors = map[string]int64{}
			}
			s.Errors[record.ErrorName(syscall.Errno(job.Errno))] += n
		}
	}
	s.Name = strings.Join(names, ", ")
	s.Read, s.Write = direction(read), direction(write)
	s.Sync = syncResult(syncs, s.Duration)
	s.UserCPU, s.SystemCPU = cpu(jobs, s.Duration)
	return s
}

// withIO appends d to list if any I/O was done in that direction.
func withIO(list []fio.Direction, d *fio.Direction) []fio.Direction {
	if d == nil || d.Bytes == 0 {
		return list
	}
	return append(list, *d)
}

// failures returns how many I/Os of a job failed. One failure ends the job, unless it
// continues after errors.
func failures(job fio.JobResult) int64 {
	switch {
	case job.Errno == 0:
		return 0
	case job.Errors != nil:
		return max(1, job.Errors.Total)
	}
	return 1
}

// direction merges the jobs' I/O in one direction; nil if there is none.
func direction(parts []fio.Direction) *record.Result {
	total := countsSubmission(parts)
	results := make([]*record.Result, len(parts))
	for i, d := range parts {
		latency := d.Completion
		if total {
			latency = d.Total
		}
		results[i] = result(latency)
		results[i].IOs, results[i].Bytes = d.IOs, d.Bytes
		results[i].IOPS, results[i].BytesPerSecond = d.IOPS, float64(d.BytesPerSecond)
	}
	return record.Sum(results)
}

// CountsSubmission reports whether the latencies of a group count from before the submission
// of an I/O (lat) in both directions.
func CountsSubmission(jobs []fio.JobResult) bool {
	var read, write []fio.Direction
	for _, job := range jobs {
		read, write = withIO(read, job.Read), withIO(write, job.Write)
	}
	return countsSubmission(read) && countsSubmission(write)
}

func countsSubmission(parts []fio.Direction) bool {
	return !slices.ContainsFunc(parts, func(d fio.Direction) bool { return !tracked(d.Total) && tracked(d.Completion) })
}

// syncResult merges the jobs' sync calls; nil if there are none.
func syncResult(parts []fio.Latency, duration time.Duration) *record.Result {
	results := make([]*record.Result, len(parts))
	for i, l := range parts {
		results[i] = result(l)
	}
	sum := record.Sum(results)
	if sum != nil && duration > 0 {
		sum.IOPS = float64(sum.IOs) / duration.Seconds()
	}
	return sum
}

// result returns a latency as a result with as many I/Os as it has samples.
func result(l fio.Latency) *record.Result {
	bins := make([]record.Bin, len(l.Histogram))
	for i, bin := range l.Histogram {
		bins[i] = record.Bin{Latency: bin.Latency, Count: bin.Count}
	}
	r := &record.Result{IOs: l.Samples, Latency: record.NewHistogram(bins), Min: l.Min, Mean: l.Mean, Max: l.Max}
	if len(bins) == 0 && l.Samples > 0 {
		for _, p := range l.Percentiles {
			r.Percentiles = append(r.Percentiles, record.Percentile{Rank: p.Rank / 100, Latency: p.Latency})
		}
	}
	return r
}

// tracked reports whether more than the mean and extremes of a latency are known.
func tracked(l fio.Latency) bool { return l.Histogram != nil || len(l.Percentiles) > 0 }

// cpu returns how many CPUs the jobs used together over the duration.
func cpu(jobs []fio.JobResult, duration time.Duration) (user, system float64) {
	if duration <= 0 {
		return 0, 0
	}
	for _, job := range jobs {
		share := job.Runtime.Seconds() / duration.Seconds() // for a group: the number of its jobs
		user += job.UserCPU * share
		system += job.SystemCPU * share
	}
	return user, system
}

// interruptsPerIO divides the interrupts by the I/Os of the device, since the interrupts also
// belong to I/Os of others. It is negative if either is unknown.
func (r Run) interruptsPerIO() float64 {
	if r.Seen.Interrupts == nil || r.Seen.Disk == nil || r.Seen.Disk.IOs() == 0 {
		return -1
	}
	return float64(*r.Seen.Interrupts) / float64(r.Seen.Disk.IOs())
}

// interruptsPerSecond divides by the time in which fio did I/O: including its start and end
// would make a short step look calm. It is 0 if unknown.
func (r Run) interruptsPerSecond(s record.Step) float64 {
	span := r.Duration
	if s.Duration > 0 {
		span = min(span, s.Duration+r.ramp())
	}
	if r.Seen.Interrupts == nil || span <= 0 {
		return 0
	}
	return float64(*r.Seen.Interrupts) / span.Seconds()
}

// ownBytes returns what fio read and wrote. ok is false if fio did more than it counts: in a
// ramp time, or through the page cache.
func (r Run) ownBytes() (read, written uint64, ok bool) {
	if !r.Job.Direct() || r.ramp() > 0 {
		return 0, 0, false
	}
	for _, job := range r.Output.Jobs {
		read += bytesOf(job.Read)
		written += bytesOf(job.Write) + bytesOf(job.Trim)
	}
	return read, written, cmp.Or(read, written) > 0
}

// ramp returns the longest time for which fio did I/O without counting it.
func (r Run) ramp() time.Duration {
	var longest time.Duration
	for i, s := range r.Job.Sections {
		if s.Name != fio.Global {
			longest = max(longest, rampOf(r.Job.Effective(i)))
		}
	}
	return longest
}

func bytesOf(d *fio.Direction) uint64 {
	if d == nil {
		return 0
	}
	return uint64(d.Bytes)
}
