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

// family is one metric family: what it is called, and which series a T has in it.
type family[T any] struct {
	name   string
	kind   prometheus.ValueType
	help   string
	labels []string // beside those that lead all series of a T
	series func(T, emit)

	leading []string
	desc    *prometheus.Desc
}

// metric is a family with labels of its own, and any number of series.
func metric[T any](name string, kind prometheus.ValueType, labels []string, help string, series func(T, emit)) family[T] {
	return family[T]{name: name, kind: kind, help: help, labels: labels, series: series}
}

// emit sends one series with the values of the family's own labels.
type emit func(value float64, labels ...string)

// described completes families whose series are led by the labels leading.
func described[T any](families []family[T], leading ...string) []family[T] {
	for i, f := range families {
		names := prometheus.UnconstrainedLabels(slices.Concat(leading, f.labels))
		families[i].leading = leading
		families[i].desc = prometheus.V2.NewDesc(f.name, f.help, names, nil, prometheus.WithUnit(unit(f.name)))
	}
	return families
}

// unit is the base unit that a name ends with, for the metadata of OpenMetrics;
// empty when it ends with none.
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

// collect sends all series that v has. If two have the same labels, it sends the first:
// they state one fact twice, as the same change behind the drift of two statistics does.
func collect[T any](families []family[T], v T, out chan<- prometheus.Metric, leading ...string) {
	led := pairs(families[0].leading, leading)
	alone := labelled(led, nil)
	for _, f := range families {
		var sent [][]string
		f.series(v, func(value float64, labels ...string) {
			if len(labels) != len(f.labels) {
				out <- prometheus.NewInvalidMetric(f.desc, fmt.Errorf("%s has the labels %v and is given %v", f.name, f.labels, labels)) // which hides no other
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

// single is a family of one value at most, without labels of its own. value says whether there is one.
func single[T any](name string, kind prometheus.ValueType, help string, value func(T) (float64, bool)) family[T] {
	return family[T]{name: name, kind: kind, help: help, series: func(t T, emit emit) {
		if v, ok := value(t); ok {
			emit(v)
		}
	}}
}

// known is a value that is positive when it is known.
func known(v float64) (float64, bool) { return v, v > 0 }

// given is a value that is there.
func given[N int | int64 | uint64 | float64](v *N) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return float64(*v), true
}

// seconds are a time span that is there.
func seconds(d *time.Duration) (float64, bool) {
	if d == nil {
		return 0, false
	}
	return d.Seconds(), true
}

// flag is whether something is so, when that is known.
func flag(b *bool) (float64, bool) {
	if b == nil {
		return 0, false
	}
	return boolean(*b), true
}

// moment is a time, in seconds since 1970 to the millisecond, when there is one.
func moment(t time.Time) (float64, bool) { return float64(t.UnixMilli()) / 1e3, !t.IsZero() }

// emitKnown emits a value that is positive when it is known.
func emitKnown(emit emit, value float64, labels ...string) {
	if value > 0 {
		emit(value, labels...)
	}
}

// emitTime emits a moment when there is one.
func emitTime(emit emit, t time.Time, labels ...string) {
	if at, ok := moment(t); ok {
		emit(at, labels...)
	}
}

// labelValue returns s as it may stand in a label. One byte that is not UTF-8 in a path
// would make Prometheus refuse the whole scrape, and replacing all such bytes by one mark
// could make two ids equal.
func labelValue(s string) string { return printable.Text(s) }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
