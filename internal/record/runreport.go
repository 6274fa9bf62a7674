package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RunReportVersion is the version of the stored form of RunReport. Version 1 stored conditions as text, and can still
// be read.
const RunReportVersion = 2

// ImportedSuite is the suite name of a report made from fio's own output.
const ImportedSuite = "fio-output"

// RunReport is the result of one execution of a suite, or of probes on demand.
type RunReport struct {
	Version  int    `json:"version"`
	Suite    string `json:"suite"`
	Device   Device `json:"device"` // the device measured, or the one below the file
	Target   string `json:"target"` // path that the I/O went to
	TargetID string `json:"target_id"`
	// File is the file that the I/O went to; nil for a raw device.
	File       *RunFile   `json:"file,omitempty"`
	Started    time.Time  `json:"started"`
	Finished   time.Time  `json:"finished"`
	Node       string     `json:"node"`
	Generator  string     `json:"generator"` // "ssdprobe 1.2.3"
	Engine     string     `json:"engine"`    // "fio-3.33", "ssdprobe-1"
	Conditions Conditions `json:"conditions"`
	Steps      []Step     `json:"steps"`
	Warnings   []Warning  `json:"warnings,omitempty"`
	// Targets lists all targets when there are several. Target, TargetID, Device and Conditions are then those of the
	// first one.
	Targets []RunTarget `json:"targets,omitempty"`
	// Settings holds the parameters that the suite was given, by name.
	Settings map[string]string `json:"settings,omitempty"`
	// Unrepeatable is true when the suite cannot measure everything several times in one run.
	Unrepeatable bool `json:"unrepeatable,omitempty"`
	// Analysis holds the conclusions from the steps; nil when there are none.
	Analysis *Analysis `json:"analysis,omitempty"`
}

// TargetText names the target, and the number of further ones: "/dev/nvme0n1 and 3 more".
func (r *RunReport) TargetText() string {
	if n := len(r.Targets); n > 1 {
		return fmt.Sprintf("%s and %d more", r.Target, n-1)
	}
	return r.Target
}

// Imported reports whether the run was made from fio's own output, so that its conditions are unknown.
func (r *RunReport) Imported() bool { return r.Suite == ImportedSuite }

// ownJobPrefix begins the names of suites that are job files of the user.
const ownJobPrefix = "job-"

// OwnJobName returns the name of the suite that is the user's job file with the given name.
func OwnJobName(file string) string { return ownJobPrefix + strings.ReplaceAll(file, " ", "-") }

// OwnJob reports whether a job file of the user was run, and not a suite.
func (r *RunReport) OwnJob() bool { return strings.HasPrefix(r.Suite, ownJobPrefix) }

// Complete reports whether the run completed.
func (r *RunReport) Complete() bool {
	return !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == WarnShort })
}

// RunFile is a file that a run measured. A larger file reaches more of the drive, so two runs are comparable only on
// files of about the same size.
type RunFile struct {
	Bytes int64 `json:"bytes"`
	// Reused is true when the file existed before the run.
	Reused bool `json:"reused,omitempty"`
}

// AlikeFiles reports whether the files of two runs differ in size by at most a tenth, as do files that fill the free
// space. It is true when either file is not known.
func AlikeFiles(a, b *RunFile) bool {
	if a == nil || b == nil {
		return true
	}
	return 10*max(a.Bytes-b.Bytes, b.Bytes-a.Bytes) <= max(a.Bytes, b.Bytes)
}

// Step is one measured part of a run. Read or Write is nil when there is no I/O in that direction.
type Step struct {
	Name     string        `json:"name"`
	Plan     string        `json:"plan"` // "4 KiB random read, depth 1"
	Duration time.Duration `json:"duration_ns"`
	// Series is the name that the repeats of one load share; empty when there are no repeats.
	Series string `json:"series,omitempty"`
	// Workload is nil when the load cannot be described in figures, such as different jobs that ran together.
	Workload *Workload `json:"workload,omitempty"`
	// Parts has the share of each target when the step used several at once.
	Parts []Part  `json:"parts,omitempty"`
	Read  *Result `json:"read,omitempty"`
	Write *Result `json:"write,omitempty"`
	// Sync holds the latencies of only the fsync or fdatasync calls.
	Sync *Result `json:"sync,omitempty"`
	// JobFile is the exact fio job file, for steps that fio ran.
	JobFile string `json:"job_file,omitempty"`
	// UserCPU and SystemCPU are the CPU time that the load generator used, in CPUs (0 to the number of CPUs).
	UserCPU   float64 `json:"user_cpu,omitempty"`
	SystemCPU float64 `json:"system_cpu,omitempty"`
	// InterruptsPerIO is negative when not known, as for each of several groups of a job file.
	InterruptsPerIO float64 `json:"interrupts_per_io"`
	// InterruptsPerSecond is the rate of interrupts from the device; 0 when not known.
	InterruptsPerSecond float64 `json:"interrupts_per_second,omitempty"`
	// Depth is the queue depth that the kernel saw; nil when fio did not run the step, or when it ran several loads.
	Depth       *Depth           `json:"depth,omitempty"`
	Errors      map[string]int64 `json:"errors,omitempty"`
	Disturbance Disturbance      `json:"disturbance"`
	// OthersRatio is the I/O of others on the device divided by that of the step, by bytes or by I/Os, whichever is
	// larger; 0 when it is not known.
	OthersRatio float64   `json:"others_ratio,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
}

// Result is the result of one direction of a step.
type Result struct {
	IOs            int64     `json:"ios"`
	Bytes          int64     `json:"bytes"`
	IOPS           float64   `json:"iops"`
	BytesPerSecond float64   `json:"bytes_per_second"`
	Latency        Histogram `json:"latency"`
	// Percentiles is all that is known of the distribution when Latency is empty, in rising order of rank.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// Min, Mean and Max are exact where the load generator reports them. The bins of the histogram are rounded.
	Min  time.Duration `json:"min_ns"`
	Mean time.Duration `json:"mean_ns"`
	Max  time.Duration `json:"max_ns"`
}
