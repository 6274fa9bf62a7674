package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/printable"
)

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// family is one metric family: its description, and the series that a T has in it.
type family[T any] struct {
	name   string
	kind   prometheus.ValueType
	help   string
	labels []string // in addition to leading
	series func(T, emit)

	leading []string
	desc    *prometheus.Desc
}

// metric returns a family with labels of its own and any number of series.
func metric[T any](name string, kind prometheus.ValueType, labels []string, help string, series func(T, emit)) family[T] {
	return family[T]{name: name, kind: kind, help: help, labels: labels, series: series}
}

// emit sends one series with the values of the family's own labels.
type emit func(value float64, labels ...string)

// described completes families. leading are the first labels of all their series.
func described[T any](families []family[T], leading ...string) []family[T] {
	for i, f := range families {
		names := prometheus.UnconstrainedLabels(slices.Concat(leading, f.labels))
		families[i].leading = leading
		families[i].desc = prometheus.V2.NewDesc(f.name, f.help, names, nil, prometheus.WithUnit(unit(f.name)))
	}
	return families
}

// unit returns the base unit at the end of a name, for the metadata of OpenMetrics; empty when there is none.
func unit(name string) string {
	base := strings.TrimSuffix(name, "_total")
	for _, u := range []string{"seconds", "bytes", "ratio"} {
		if strings.HasSuffix(base, "_"+u) {
			return u
		}
	}
	return ""
}

func describe[T any](families []family[T], out chan<- *prometheus.Desc) {
	for _, f := range families {
		out <- f.desc
	}
}

// collect sends all series of v. If two have the same labels, it sends only the first, because both state the same
// fact, such as one change that is behind the drift of two statistics.
func collect[T any](families []family[T], v T, out chan<- prometheus.Metric, leading ...string) {
	led := pairs(families[0].leading, leading)
	alone := labelled(led, nil)
	for _, f := range families {
		var sent [][]string
		f.series(v, func(value float64, labels ...string) {
			if len(labels) != len(f.labels) {
				out <- prometheus.NewInvalidMetric(f.desc, fmt.Errorf("%s has the labels %v and is given %v", f.name, f.labels, labels)) // an invalid metric does not hide the others
				return
			}
			own := make([]string, len(labels))
			for i, label := range labels {
				own[i] = labelValue(label)
			}
			if slices.ContainsFunc(sent, func(before []string) bool { return slices.Equal(before, own) }) {
				return
			}
			sent = append(sent, own)
			all := alone
			if len(own) > 0 {
				all = labelled(led, pairs(f.labels, own))
			}
			out <- &series{f.desc, f.kind, value, all}
		})
	}
}

// single returns a family with at most one value and no labels of its own. value reports whether there is one.
func single[T any](name string, kind prometheus.ValueType, help string, value func(T) (float64, bool)) family[T] {
	return family[T]{name: name, kind: kind, help: help, series: func(t T, emit emit) {
		if v, ok := value(t); ok {
			emit(v)
		}
	}}
}

// known returns a value that is known if it is positive.
func known(v float64) (float64, bool) { return v, v > 0 }

// optional returns the value of v, or false if v is nil.
func optional[T any](v *T, value func(T) float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return value(*v), true
}

// given returns a number, or false if v is nil.
func given[N int | int64 | uint64 | float64](v *N) (float64, bool) {
	return optional(v, func(n N) float64 { return float64(n) })
}

// seconds returns a duration in seconds, or false if d is nil.
func seconds(d *time.Duration) (float64, bool) { return optional(d, time.Duration.Seconds) }

// flag returns b as 0 or 1, or false if b is nil.
func flag(b *bool) (float64, bool) { return optional(b, boolean) }

// moment returns a time in seconds since 1970, to the millisecond, or false for the zero time.
func moment(t time.Time) (float64, bool) { return float64(t.UnixMilli()) / 1e3, !t.IsZero() }

// emitKnown emits a value if it is positive, and therefore known.
func emitKnown(emit emit, value float64, labels ...string) {
	if value > 0 {
		emit(value, labels...)
	}
}

// emitTime emits a time unless it is zero.
func emitTime(emit emit, t time.Time, labels ...string) {
	if at, ok := moment(t); ok {
		emit(at, labels...)
	}
}

// labelValue returns s in a form that is valid as a label value. A single byte in a path that is not UTF-8 would make
// Prometheus reject the whole scrape, and replacing all such bytes with one character could make two ids equal.
func labelValue(s string) string { return printable.Text(s) }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
