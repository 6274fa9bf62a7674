package report

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The parts of a step that have figures of their own. Sync is the time of only the fsync
// or fdatasync calls.
const (
	partRead  = "read"
	partWrite = "write"
	partSync  = "sync"
)

// Summary holds the main figures of one direction of a step.
type Summary struct {
	Step      string `json:"step"`
	Plan      string `json:"plan"`
	Direction string `json:"direction"` // read, write or sync

	IOs            int64   `json:"ios"`
	IOPS           float64 `json:"iops"`
	BytesPerSecond float64 `json:"bytes_per_second"`

	Min  time.Duration `json:"min_ns"`
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P95  time.Duration `json:"p95_ns"`
	P99  time.Duration `json:"p99_ns"`
	P999 time.Duration `json:"p99_9_ns"`
	Max  time.Duration `json:"max_ns"`
	// Unsure names the percentiles that are based on too few I/Os, see record.Supported.
	Unsure []string `json:"unsure,omitempty"`
	// Codes are the codes of the warnings of the step.
	Codes []string `json:"codes,omitempty"`
}

// Summarise returns the figures of all steps and directions in their order, without steps
// whose figures cannot be true.
func Summarise(r record.RunReport) []Summary {
	var all []Summary
	for _, step := range r.Steps {
		if step.Impossible() {
			continue
		}
		for _, part := range parts(step) {
			all = append(all, summarise(step, part))
		}
	}
	return all
}

// part is one direction of a step that has a result.
type part struct {
	direction string
	result    record.Result
}

func parts(step record.Step) []part {
	var present []part
	for _, p := range []struct {
		direction string
		result    *record.Result
	}{{partRead, step.Read}, {partWrite, step.Write}, {partSync, step.Sync}} {
		if p.result != nil {
			present = append(present, part{p.direction, *p.result})
		}
	}
	return present
}

func summarise(step record.Step, p part) Summary {
	r := p.result
	s := Summary{
		Step: step.Name, Plan: step.Plan, Direction: p.direction, Codes: codesOf(step.Warnings),
		IOs: p.result.IOs, IOPS: p.result.IOPS, BytesPerSecond: p.result.BytesPerSecond,
		Min: p.result.Min, Mean: p.result.Mean, Max: p.result.Max,
		P50: r.Quantile(0.50), P95: r.Quantile(0.95), P99: r.Quantile(0.99), P999: r.Quantile(0.999),
	}
	if s.Max == 0 { // the generator reported no exact values
		s.Min, s.Mean, s.Max = r.Latency.Min(), r.Latency.Mean(), r.Latency.Max()
	}
	if len(r.Latency)+len(r.Percentiles) == 0 {
		return s
	}
	for _, q := range []struct {
		name  string
		value float64
	}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}} {
		if !record.Supported(q.value, r.Samples()) {
			s.Unsure = append(s.Unsure, q.name)
		}
	}
	return s
}
