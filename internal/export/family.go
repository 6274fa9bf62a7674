package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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

// emitKnown emits a value that is positive when it is known.
func emitKnown(emit emit, value float64, labels ...string) {
	if value > 0 {
		emit(value, labels...)
	}
}

// emitIf emits a value that is there.
func emitIf(emit emit, value *float64) {
	if value != nil {
		emit(*value)
	}
}

// emitFlag emits whether something is so, when that is known.
func emitFlag(emit emit, flag *bool) {
	if flag != nil {
		emit(boolean(*flag))
	}
}

// emitTime emits a moment, in seconds since 1970 to the millisecond, when there is one.
func emitTime(emit emit, t time.Time, labels ...string) {
	if !t.IsZero() {
		emit(float64(t.UnixMilli())/1e3, labels...)
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
