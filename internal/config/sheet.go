package config

import (
	"io"
	"math"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ParseDataSheet reads a data sheet: the file of `ssdprobe run --spec`. It has the keys of an item of
// drift.data_sheets. Its model is for people and may be missing. Problems with the content are returned as Problems.
func ParseDataSheet(r io.Reader) (record.DataSheet, error) {
	var s record.DataSheet
	keys := sheetKeys(&s)
	keys[0].field = optional(text(&s.Model))
	found, err := read(r, keys)
	if err != nil {
		return record.DataSheet{}, err
	}
	keys.check("", found)
	if len(found.problems) == 0 && s == (record.DataSheet{Model: s.Model}) {
		found.add(Problem{Wrong: "the file has no figures", Want: wantFigures})
	}
	if err := found.err(); err != nil {
		return record.DataSheet{}, err
	}
	return s, nil
}

const wantFigures = "those of the data sheet, e.g. random-read-latency: 85us"

func sheetForm(s *record.DataSheet) field { return filled{sheetKeys(s), 2} }

func sheetKeys(s *record.DataSheet) section {
	const model = `the model that the drive says it is, or a pattern, e.g. "SAMSUNG MZQL2*"`
	return section{
		{"model", required(pattern(&s.Model), model), "pattern of the model"},
		{"random-read", promisedIOPS(&s.RandomReadIOPS), "promised IOPS"},
		{"random-write", promisedIOPS(&s.RandomWriteIOPS), "promised IOPS"},
		{"sequential-read", promisedRate(&s.SequentialReadBytesPerSecond), "promised bandwidth"},
		{"sequential-write", promisedRate(&s.SequentialWriteBytesPerSecond), "promised bandwidth"},
		{"random-read-latency", promisedLatency(&s.RandomReadLatency), "promised latency"},
		{"random-write-latency", promisedLatency(&s.RandomWriteLatency), "promised latency"},
	}
}

// exampleSheets returns the example of the commented file.
func exampleSheets() []record.DataSheet {
	return []record.DataSheet{{
		Model: "SAMSUNG MZWLO15T*", RandomReadIOPS: &record.Promise[float64]{Value: 2e6},
		SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 14e9}, RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond},
	}}
}

func promisedIOPS(dst **record.Promise[float64]) field {
	return promised(dst, analysis.ParseIOPS, func(v float64) string { return inThousands(v, 1e3, "k IOPS", " IOPS") },
		"I/Os per second", "a number, e.g. 2000k IOPS or 40k IOPS at 16KiB", "16KiB", schema{Type: types{"string", "number"}, Pattern: `[0-9.]+ *[kKM]? *(IOPS)?`})
}

func promisedRate(dst **record.Promise[float64]) field {
	return promised(dst, analysis.ParseRate, func(v float64) string { return inThousands(v, 1e6, " MB/s", " B/s") },
		"a rate of a data sheet", "decimal bytes per second, e.g. 14000 MB/s or 14000 MB/s at 1MiB", "1MiB", schema{Type: types{"string"}, Pattern: `[0-9.]+ *[kMGT]?B/s`})
}

func promisedLatency(dst **record.Promise[time.Duration]) field {
	return promised(dst, analysis.ParseLatency, func(d time.Duration) string { return strings.ReplaceAll(d.String(), "µs", "us") },
		"a latency", "a time, e.g. 85us or 85us at 16KiB", "16KiB", schema{Type: types{"string"}, Pattern: `([0-9.]+ *(ns|us|µs|ms|s|m|h) *)+`})
}

// inThousands formats a figure in the unit that data sheets use, when that is exact.
func inThousands(v, thousands float64, unit, otherwise string) string {
	if math.Mod(v, thousands) == 0 {
		return FormatNumber(v/thousands) + unit
	}
	return FormatNumber(v) + otherwise
}

// atBlocks separates a figure from the block size that it is stated for: "40k IOPS at 16KiB".
const atBlocks = " at "

// promised is a figure that a data sheet may contain, with the block size if the sheet states it for another one than
// usual, such as example. The pattern of the shape is that of the figure alone.
func promised[T float64 | time.Duration](dst **record.Promise[T], parse func(string) (T, error), format func(T) string, noun, want, example string, shape schema) field {
	shape.Pattern = `^ *` + shape.Pattern + ` *( at +[0-9]+ ?([KM]i)?B? *)?$`
	return optional(scalar[*record.Promise[T]]{
		dst: dst, noun: strings.TrimSuffix(strings.TrimPrefix(noun, "a "), " of a data sheet"),
		parse: func(text string) (*record.Promise[T], error) {
			figure, blocks, stated := strings.Cut(text, atBlocks)
			v, err := parse(figure)
			if err != nil {
				return nil, notA(noun, text, want) // want says the same as the error
			}
			p := record.Promise[T]{Value: v}
			if stated {
				p.BlockBytes, err = ParseSize(strings.TrimSpace(blocks))
				if n := p.BlockBytes; err != nil || n < minBlockBytes || n > maxBlockBytes || n&(n-1) != 0 {
					return nil, Problem{Value: text, Wrong: "has no valid block size", Want: wantBlockBytes + ", e.g. " + format(v) + atBlocks + example}
				}
			}
			return &p, nil
		},
		format: func(p *record.Promise[T]) string {
			if p.BlockBytes == 0 {
				return format(p.Value)
			}
			return format(p.Value) + atBlocks + FormatSize(p.BlockBytes)
		},
		shape: shape,
	})
}

func checkSheets(f *findings, sheets []record.DataSheet) {
	models := unique{}
	for i, s := range sheets {
		at := item("drift.data_sheets", i)
		model := join(at, "model")
		if s.Model != "" {
			models.check(f, model, s.Model, s.Model)
		}
		f.need(s != record.DataSheet{Model: s.Model} || f.partly[at], Problem{
			Field: at, Wrong: "has no figures", Want: wantFigures,
		})
	}
}
