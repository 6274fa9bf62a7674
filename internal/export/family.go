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
	desc   *prometheus.Desc
	order  labelOrder
}

// emit sends one series with the values of the family's own labels. The labels are
// its own from then on: it may change them, and the series points into them.
type emit func(value float64, labels ...string)

// described completes families whose series are led by the labels leading.
func described[T any](families []family[T], leading ...string) []family[T] {
	for i, f := range families {
		names := slices.Concat(leading, f.labels)
		families[i].desc = prometheus.V2.NewDesc(f.name, f.help, prometheus.UnconstrainedLabels(names), nil, prometheus.WithUnit(unit(f.name)))
		families[i].order = newLabelOrder(names)
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

// collect sends all series that v has. Of two with the same labels the first is
// sent: they state one fact twice, as the same change behind the drift of two
// statistics does.
func collect[T any](families []family[T], v T, to *scrape, leading ...string) {
	led := lead(families[0].order, leading)
	alone := byName(led) // shared by all series without labels of their own
	var f *family[T]     // of each in turn, so that nothing is made anew for it
	emit := func(value float64, labels ...string) {
		if len(labels) != len(f.labels) {
			panic(fmt.Sprintf("%s has the labels %v and is given %v", f.name, f.labels, labels))
		}
		for i, label := range labels {
			labels[i] = labelValue(label)
		}
		if slices.ContainsFunc(to.sent, func(before []string) bool { return slices.Equal(before, labels) }) {
			return
		}
		to.sent = append(to.sent, labels)
		pairs := alone
		if len(labels) > 0 {
			pairs = to.labelled(f.order, led, labels)
		}
		to.send(to.newSeries(f.desc, f.kind, value, pairs))
	}
	for i := range families {
		f, to.sent = &families[i], to.sent[:0]
		f.series(v, emit)
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
