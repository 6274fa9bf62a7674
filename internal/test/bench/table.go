package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/sys/unix"
)

// report is the result.
type report struct {
	Time       time.Time `json:"time"`
	CPUs       int       `json:"cpus"`
	Kernel     string    `json:"kernel"`
	Load       string    `json:"load"` // /proc/loadavg when the measurements began
	Lines      []line    `json:"lines"`
	NotReached []missing `json:"not_reached,omitempty"`
}

// missing is a comparison that could not be made here.
type missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func newReport() *report {
	r := &report{Time: time.Now(), CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if unix.Uname(&u) == nil { // only for information
		r.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load = strings.TrimSpace(string(load))
	}
	return r
}

// line is one line of the table: how two sides compare, or a figure.
type line struct {
	What    string `json:"what"`
	Against string `json:"against"`
	Wanted  string `json:"wanted"`
	Unit    string `json:"unit"` // "ratio", "ms", "MiB", …
	// Median is over the measurements, Low and High are their quartiles.
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Count  int     `json:"count"`
	// Holds tells whether the median meets the wish; nil if there is none.
	Holds *bool `json:"holds,omitempty"`
}

// wish is a requirement on a median.
type wish struct {
	text  string
	holds func(median float64) bool
}

// shown is a wish without a requirement.
func shown() wish { return wish{text: "shown"} }

// within requires a ratio of 1 ± share.
func within(share float64) wish {
	return wish{fmt.Sprintf("within %.4g %%", 100*share), func(median float64) bool { return math.Abs(median-1) <= share }}
}

// atMost requires a figure of at most limit.
func atMost(limit float64) wish {
	return wish{fmt.Sprintf("at most %.4g", limit), func(median float64) bool { return median <= limit }}
}

// atLeast requires a figure of at least limit.
func atLeast(limit float64) wish {
	return wish{fmt.Sprintf("at least %.4g", limit), func(median float64) bool { return median >= limit }}
}

// newLine summarises measurements.
func newLine(what, against, unit string, w wish, values ...float64) line {
	slices.Sort(values)
	l := line{
		What: what, Against: against, Wanted: w.text, Unit: unit,
		Median: rank(values, 0.5), Count: len(values),
		// With few values these are the minimum and the maximum.
		Low:  values[int(math.Floor(0.25*float64(len(values)-1)))],
		High: values[int(math.Ceil(0.75*float64(len(values)-1)))],
	}
	if w.holds != nil {
		holds := w.holds(l.Median)
		l.Holds = &holds
	}
	return l
}

// rank returns the value at rank q, 0 to 1, of sorted.
func rank(sorted []float64, q float64) float64 {
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}

func (r *report) print(w io.Writer) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "against", "median", "quartiles", "n", "wanted", "holds"})
	for _, l := range r.Lines {
		holds := ""
		if l.Holds != nil {
			holds = map[bool]string{true: "yes", false: "NO"}[*l.Holds]
		}
		spread := ""
		if l.Count > 1 {
			spread = fmt.Sprintf("%.4g to %.4g", l.Low, l.High)
		}
		t.AppendRow(table.Row{l.What, l.Against, fmt.Sprintf("%.4g %s", l.Median, l.Unit), spread, l.Count, l.Wanted, holds})
	}
	fmt.Fprintf(w, "%s, %d CPUs, Linux %s, load at the start %s\n%s\n", r.Time.Format(time.DateTime), r.CPUs, r.Kernel, r.Load, t.Render())
	for _, m := range r.NotReached {
		fmt.Fprintf(w, "Not measured here: %s: %s\n", m.Name, m.Reason)
	}
}

func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
