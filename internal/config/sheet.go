package config

import (
	"path"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// sheetForm has the keys of the file that `ssdprobe run --spec` takes.
func sheetForm(s *record.DataSheet) field {
	return section{
		{"model", text(&s.Model)},
		{"random-read", promisedIOPS(&s.RandomReadIOPS)},
		{"random-write", promisedIOPS(&s.RandomWriteIOPS)},
		{"sequential-read", promisedRate(&s.SequentialReadBytesPerSecond)},
		{"sequential-write", promisedRate(&s.SequentialWriteBytesPerSecond)},
		{"random-read-latency", promisedLatency(&s.RandomReadLatency)},
		{"random-write-latency", promisedLatency(&s.RandomWriteLatency)},
	}
}

func promisedIOPS(dst **float64) field {
	return promised(dst, analysis.ParseIOPS, func(v float64) string { return formatNumber(v) + " IOPS" },
		"I/Os per second", "a number, e.g. 2000k IOPS")
}

func promisedRate(dst **float64) field {
	return promised(dst, analysis.ParseRate, func(v float64) string { return formatNumber(v) + " B/s" },
		"a rate of a data sheet", "decimal bytes per second, e.g. 14000 MB/s")
}

func promisedLatency(dst **time.Duration) field {
	return promised(dst, analysis.ParseLatency, time.Duration.String, "a latency", "a time, e.g. 85us")
}

// promised is a figure that a data sheet may have.
func promised[T float64 | time.Duration](dst **T, parse func(string) (T, error), format func(T) string, noun, want string) field {
	return optional(scalar[*T]{
		dst: dst,
		parse: func(text string) (*T, error) {
			v, err := parse(text)
			if err != nil {
				return nil, notA(noun, text, want) // it says what the error says
			}
			return &v, nil
		},
		format: func(v *T) string { return format(*v) },
	})
}

func checkSheets(f *findings, sheets []record.DataSheet) {
	models := unique{}
	for i, s := range sheets {
		at := item("drift.data_sheets", i)
		model := join(at, "model")
		f.need(s.Model != "", Problem{Field: model, Wrong: "is missing", Want: `the model that the drive says it is, or a pattern, e.g. "SAMSUNG MZQL2*"`})
		printable(f, model, s.Model)
		_, err := path.Match(s.Model, "")
		f.need(err == nil, notAt(model, "a glob", s.Model, "a pattern of *, ? and [a-z]"))
		if s.Model != "" {
			models.check(f, model, s.Model, s.Model)
		}
		f.need(s != record.DataSheet{Model: s.Model} || f.partly[at], Problem{
			Field: at, Wrong: "has no figures", Want: "those of the data sheet, e.g. random-read-latency: 85us",
		})
	}
}
