package fio

import "time"

// Output is the report of one run of fio.
type Output struct {
	Version Version
	// Time is when fio wrote the report; of clients in whole seconds.
	Time time.Time
	// GlobalOptions are the options of the global sections, as fio understood them. With
	// several clients, these are the ones that all of them have alike.
	GlobalOptions map[string]string
	// Jobs are in fio's order. Jobs of clients are in the order of Host and Port; the sum
	// that fio prints as "All clients" is not among them.
	Jobs []JobResult
	// DiskUtil is empty when fio does not report it: it is disabled, or nothing is on a block device.
	DiskUtil []DiskUtil
	// Notes are the lines of text around the JSON: fio's warnings and errors.
	Notes []string
}

// JobResult is one job, or with group_reporting one group of jobs.
type JobResult struct {
	Name string
	// Host and Port are the client that executed the job (--client), as fio was given them;
	// empty if fio executed it itself. Groups of different clients have nothing in common.
	Host  string
	Port  int
	Group int
	// Errno is the error that ended the job, 0 if none did.
	Errno int
	// Options are the options of the section, as fio understood them. Switches that are
	// set by their presence (thread, time_based) are not among them.
	Options map[string]string
	// Elapsed is the whole run time of fio so far, in whole seconds; 0 for a client.
	Elapsed time.Duration
	// Runtime is the time during which the job did I/O, without the ramp time; for a
	// group, the sum over its jobs.
	Runtime time.Duration

	// Read, Write and Trim are nil when fio reports all directions as one.
	Read, Write, Trim *Direction
	// Mixed is all directions combined; nil without unified_rw_reporting.
	Mixed *Direction
	// Sync is the time of the fsync, fdatasync and sync_file_range calls; nil when fio
	// does not report them. Its Samples is the number of calls; the number that fio
	// prints beside the latency stays 0 with synchronous engines.
	Sync *Latency

	// UserCPU and SystemCPU are shares of one CPU (1 is all of it) over Runtime; for a
	// group, the mean over its jobs.
	UserCPU, SystemCPU float64
	// Depths are in ascending order, without levels that no I/O had; empty when fio
	// does not report them.
	Depths          []DepthLevel
	ContextSwitches int64
	MajorFaults     int64
	MinorFaults     int64
	// Errors is nil unless the job continues after errors (continue_on_error).
	Errors *Errors
}

// DepthLevel is the share of I/Os that were queued at a range of queue depths, which
// count the I/Os themselves: fio's iodepth_level. A completed I/O is in flight until
// fio reaps it, so the device may have had fewer.
type DepthLevel struct {
	// Least is the lowest depth of the level: 1, 2, 4, 8, 16, 32 or 64. The level ends
	// where the next one begins; that of 64 has no end.
	Least int
	// Share is the share of the I/Os, 0 to 1. Syncs count too, so the shares of a job
	// with syncs add up to more than 1. fio reports a thousandth for anything less.
	Share float64
}

// MostDepth returns the highest mean queue depth that is consistent with levels, for a
// job that keeps at most limit I/Os in flight. Without levels it is limit.
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

// Errors counts the failed I/Os of a job that continues after them.
type Errors struct {
	Total int64
	// First is the errno of the first one.
	First int
}

// Direction is what a job did in one direction. Without I/O, all fields are zero.
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
	// Submission is the time to submit an I/O (slat), Completion the time from there to
	// its completion (clat), Total both (lat). By default fio prints percentiles and
	// bins only for Completion.
	Submission, Completion, Total Latency
}

// Latency is a distribution of latencies. Without samples, all fields are zero.
type Latency struct {
	// Samples may differ by a few from the number of I/Os: I/Os in flight at the end of
	// the ramp time count in only one of the two.
	Samples int64
	// Min and Max are exact.
	Min, Max time.Duration
	// Mean and StdDev are rounded to whole nanoseconds.
	Mean, StdDev time.Duration
	// Percentiles are the ones that fio was asked for, in ascending order; empty when
	// fio does not track this latency.
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
	Host                      string // of the client, as in JobResult
	Port                      int
	ReadIOs, WriteIOs         int64
	ReadMerges, WriteMerges   int64
	ReadTime, WriteTime, Busy time.Duration // Busy is the time with I/O in flight, weighted by the number of I/Os
	// Utilisation is the share (0 to 1) of time with I/O in flight.
	Utilisation float64
}
