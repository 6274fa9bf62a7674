package fio

import "time"

// Output is what one run of fio reports.
type Output struct {
	Version Version
	// Time is when fio wrote the report.
	Time time.Time
	// GlobalOptions are those of the global sections, as fio understood them.
	GlobalOptions map[string]string
	Jobs          []JobResult
	// DiskUtil is empty when fio does not say: disabled, or nothing on a block device.
	DiskUtil []DiskUtil
	// Notes are the lines of text around the JSON: fio's warnings and errors.
	Notes []string
}

// JobResult is one job, or with group_reporting one group of jobs.
type JobResult struct {
	Name  string
	Group int
	// Errno is the error that ended the job, 0 when none did.
	Errno int
	// Options are those of the section, as fio understood them. Switches that are
	// on by being there (thread, time_based) are not among them.
	Options map[string]string
	// Elapsed is the whole time of fio so far, in seconds.
	Elapsed time.Duration
	// Runtime is the time the job did I/O, ramp time left out; added up over the
	// jobs of a group.
	Runtime time.Duration

	// Read, Write and Trim are nil when fio reports all directions as one.
	Read, Write, Trim *Direction
	// Mixed is all directions as one; nil without unified_rw_reporting.
	Mixed *Direction
	// Sync is the time of the fsync, fdatasync and sync_file_range calls; nil when
	// fio does not report them. Its Samples are the number of calls: the one that
	// fio gives beside it stays 0 with synchronous engines.
	Sync *Latency

	// UserCPU and SystemCPU are shares of one CPU (1 is all of it) over Runtime:
	// of a group, the mean of its jobs.
	UserCPU, SystemCPU float64
	// Depths are in rising order, without those that no I/O had; empty when fio does not say.
	Depths          []DepthLevel
	ContextSwitches int64
	MajorFaults     int64
	MinorFaults     int64
	// Errors is nil unless the job goes on after errors (continue_on_error).
	Errors *Errors
}

// DepthLevel is the share of I/Os that were queued while the job had that many in
// flight, themselves included: fio's iodepth_level. An I/O that completed is in flight
// until fio reaps it, so the device may have had fewer.
type DepthLevel struct {
	// Least is the lowest depth of the level: 1, 2, 4, 8, 16, 32 or 64. The next level ends
	// it; that of 64 has no end.
	Least int
	// Share is of the I/Os, 0 to 1. Syncs count too, so that shares of a job with syncs add up
	// to more. fio gives a thousandth for anything less.
	Share float64
}

// MostDepth is the highest mean depth that levels allow, of a job that keeps at most
// limit I/Os in flight.
func MostDepth(levels []DepthLevel, limit int) float64 {
	var sum, shares float64
	for _, l := range levels {
		most := limit
		if l.Least < lastLevel {
			most = min(limit, 2*l.Least-1)
		}
		sum += l.Share * float64(most)
		shares += l.Share
	}
	if shares == 0 {
		return float64(limit)
	}
	return sum / shares
}

// Errors counts the failed I/Os of a job that goes on after them.
type Errors struct {
	Total int64
	// First is the errno of the first one.
	First int
}

// Direction is what a job did in one direction. Without I/O, all is zero.
type Direction struct {
	IOs        int64
	Bytes      int64
	ShortIOs   int64
	DroppedIOs int64
	IOPS       float64
	// BytesPerSecond is fio's bw_bytes: whole bytes, rounded down.
	BytesPerSecond int64
	// Runtime is a whole number of milliseconds.
	Runtime time.Duration
	// Submission is the time to submit an I/O (slat), Completion the time from
	// there to its completion (clat), Total both (lat). By default fio gives
	// percentiles and bins of Completion alone.
	Submission, Completion, Total Latency
}

// Latency is a distribution of latencies. Without samples, all is zero.
type Latency struct {
	// Samples may differ by a few from the number of I/Os: those in flight when
	// the ramp time ended are in one and not in the other.
	Samples int64
	// Min and Max are exact.
	Min, Max time.Duration
	// Mean and StdDev are rounded to whole nanoseconds.
	Mean, StdDev time.Duration
	// Percentiles are those fio was asked for, in rising order; empty when it
	// does not track this latency.
	Percentiles []Percentile
	// Histogram is empty without json+, and when fio does not track this latency.
	Histogram Histogram
}

// Percentile is the latency that a share of the I/Os did not exceed.
type Percentile struct {
	Rank    float64 // above 0, up to 100
	Latency time.Duration
}

// DiskUtil is what the kernel counted for a block device during the run.
type DiskUtil struct {
	Name                      string
	ReadIOs, WriteIOs         int64
	ReadMerges, WriteMerges   int64
	ReadTime, WriteTime, Busy time.Duration // Busy is the time with I/O in flight, weighted by how many
	// Utilisation is the share (0 to 1) of time with I/O in flight.
	Utilisation float64
}
