package export

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
}

// emit sends one series with the values of the family's own labels.
type emit func(value float64, labels ...string)

// described completes families whose series are led by the labels leading.
func described[T any](families []family[T], leading ...string) []family[T] {
	for i, f := range families {
		families[i].desc = prometheus.NewDesc(f.name, f.help, slices.Concat(leading, f.labels), nil)
	}
	return families
}

func describe[T any](families []family[T], out chan<- *prometheus.Desc) {
	for _, f := range families {
		out <- f.desc
	}
}

// collect sends all series that v has. Of two with the same labels the first is
// sent: they state one fact twice, as the same change behind the drift of two statistics.
func collect[T any](families []family[T], v T, out chan<- prometheus.Metric, leading ...string) {
	for _, f := range families {
		var sent [][]string
		f.series(v, func(value float64, labels ...string) {
			for i, label := range labels {
				labels[i] = labelValue(label)
			}
			if slices.ContainsFunc(sent, func(before []string) bool { return slices.Equal(before, labels) }) {
				return
			}
			sent = append(sent, labels)
			metric, err := prometheus.NewConstMetric(f.desc, f.kind, value, slices.Concat(leading, labels)...)
			if err != nil {
				metric = prometheus.NewInvalidMetric(f.desc, err)
			}
			out <- metric
		})
	}
}

// labelValue returns s with bytes that are not UTF-8 written as \xNN: one such
// byte in a drive's model or a path would make Prometheus refuse the whole
// scrape, and replacing all of them by one mark could make two ids equal.
func labelValue(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// timestamp is t in seconds since 1970.
func timestamp(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
