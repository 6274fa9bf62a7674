package record

import (
	"slices"
	"time"
)

// RunReportVersion is the version of the stored form of RunReport. Version 1 had conditions as texts, and is still
// read.
const RunReportVersion = 2

// ImportedSuite is the suite of a report that was made of fio's own output.
const ImportedSuite = "fio-output"

// RunReport is what one execution of a suite, or of probes on demand, yields.
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
	// Targets are all of them when there are several; Target, TargetID, Device and
	// Conditions are then those of the first.
	Targets []RunTarget `json:"targets,omitempty"`
	// Settings are the parameters of the suite that were set, by name.
	Settings map[string]string `json:"settings,omitempty"`
	// Unrepeatable says that the suite cannot measure everything several times in one run.
	Unrepeatable bool `json:"unrepeatable,omitempty"`
	// Analysis is what the steps come to; nil when nothing was concluded.
	Analysis *Analysis `json:"analysis,omitempty"`
}

// Imported reports whether the run was made of fio's own output, so that its conditions are unknown.
func (r *RunReport) Imported() bool { return r.Suite == ImportedSuite }

// Complete reports whether the run completed.
func (r *RunReport) Complete() bool {
	return !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == WarnShort })
}

// RunFile is a file that a run measured. A larger one reaches more of the drive, so
// two runs are alike only on files of about the same size.
type RunFile struct {
	Bytes int64 `json:"bytes"`
	// Reused says that it was there before the run, else it was made for it.
	Reused bool `json:"reused,omitempty"`
}

// AlikeFiles reports whether two runs were on files that differ by less than a tenth,
// as those do that are as large as the free space allows; true where one is not known.
func AlikeFiles(a, b *RunFile) bool {
	if a == nil || b == nil {
		return true
	}
	return 10*max(a.Bytes-b.Bytes, b.Bytes-a.Bytes) <= max(a.Bytes, b.Bytes)
}

// Step is one measured part of a run. A direction without I/O is nil.
type Step struct {
	Name     string        `json:"name"`
	Plan     string        `json:"plan"` // "4 KiB random read, depth 1"
	Duration time.Duration `json:"duration_ns"`
	// Series is the name that the repeats of one load share; empty when there are none.
	Series string `json:"series,omitempty"`
	// Workload is nil when it is not known in figures, as for jobs that differ and ran together.
	Workload *Workload `json:"workload,omitempty"`
	// Parts are the shares of the targets when the step used several at once.
	Parts []Part  `json:"parts,omitempty"`
	Read  *Result `json:"read,omitempty"`
	Write *Result `json:"write,omitempty"`
	// Sync holds the latencies of the fsync or fdatasync calls alone.
	Sync *Result `json:"sync,omitempty"`
	// JobFile is the exact fio job, for steps that fio ran.
	JobFile string `json:"job_file,omitempty"`
	// UserCPU and SystemCPU are the shares (0 to number of CPUs) that the load generator used.
	UserCPU   float64 `json:"user_cpu,omitempty"`
	SystemCPU float64 `json:"system_cpu,omitempty"`
	// InterruptsPerIO is negative when not known.
	InterruptsPerIO float64 `json:"interrupts_per_io"`
	// InterruptsPerSecond are those of the device; 0 when not known.
	InterruptsPerSecond float64 `json:"interrupts_per_second,omitempty"`
	// Depth is what the kernel saw; nil when a step is none of fio's, or several loads.
	Depth       *Depth           `json:"depth,omitempty"`
	Errors      map[string]int64 `json:"errors,omitempty"`
	Disturbance Disturbance      `json:"disturbance"`
	// OthersRatio is what others did with the device as a share of what the step did, by
	// bytes or by I/Os, whichever is more; 0 when it is not known.
	OthersRatio float64   `json:"others_ratio,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
}

// Result is one direction of a step.
type Result struct {
	IOs            int64     `json:"ios"`
	Bytes          int64     `json:"bytes"`
	IOPS           float64   `json:"iops"`
	BytesPerSecond float64   `json:"bytes_per_second"`
	Latency        Histogram `json:"latency"`
	// Percentiles are all that is known of the distribution where Latency is empty; in rising order of rank.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// Min, Mean and Max are exact where the generator gave them; the histogram's bins round.
	Min  time.Duration `json:"min_ns"`
	Mean time.Duration `json:"mean_ns"`
	Max  time.Duration `json:"max_ns"`
}
