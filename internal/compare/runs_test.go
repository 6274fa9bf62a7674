package compare_test

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const us = time.Microsecond

// result returns a result of n I/Os at a median latency, one tenth of which take tail
// instead.
func result(n int64, iops float64, median, tail time.Duration) *record.Result {
	return &record.Result{IOs: n, IOPS: iops, Latency: record.Histogram{{Latency: median, Count: n - n/10}, {Latency: tail, Count: n / 10}}}
}

// steps returns one load with a repeat for each of the IOPS.
func steps(name string, iops ...float64) []record.Step {
	var all []record.Step
	for i, v := range iops {
		latency := time.Duration(float64(time.Second) / v)
		s := record.Step{Name: name, Plan: "4 KiB random read", Read: result(5000, v, latency, 2*latency)}
		if len(iops) > 1 {
			s.Series, s.Name = name, fmt.Sprintf("%s-repeat%d", name, i+1)
		}
		all = append(all, s)
	}
	return all
}

// quick returns a run of three loads at the given IOPS.
func quick(a, b, c float64) record.RunReport {
	return runOf(append(append(steps("a", a), steps("b", b)...), steps("c", c)...)...)
}

func runOf(steps ...record.Step) record.RunReport {
	return record.RunReport{Suite: "quick", TargetID: "x", Started: day(9), Conditions: record.Conditions{Firmware: "A"}, Steps: steps}
}

func day(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }

// warned adds a warning to some steps of a run.
func warned(r record.RunReport, code string, steps ...int) record.RunReport {
	for _, i := range steps {
		r.Steps[i].Warnings = append(r.Steps[i].Warnings, record.Warning{Code: code, Text: code + "."})
	}
	return r
}
