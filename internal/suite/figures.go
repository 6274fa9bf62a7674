package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Figure is a figure of a data sheet, with the suites that measure it with their default parameters, on a raw device that
// they may overwrite.
type Figure struct {
	Name   string // "random read latency"
	Suites []string
}

// Figures returns all figures of a data sheet.
func Figures() []Figure {
	rate, latency := &record.Promise[float64]{Value: 1}, &record.Promise[time.Duration]{Value: 1}
	sheet := record.DataSheet{
		RandomReadIOPS: rate, RandomWriteIOPS: rate, SequentialReadBytesPerSecond: rate, SequentialWriteBytesPerSecond: rate,
		RandomReadLatency: latency, RandomWriteLatency: latency,
	}
	target := Nominal(true)
	target.Destroy = true
	var figures []Figure
	for _, s := range All() {
		planned, _ := s.sketch(Values{}, []Target{target}) // none if it takes no raw device
		var steps []record.Step
		for _, p := range planned {
			// Which direction has the result does not matter.
			steps = append(steps, record.Step{Name: p.Name, Workload: p.Workload, Read: &record.Result{IOs: 1, IOPS: 1, BytesPerSecond: 1, Mean: 1}})
		}
		for i, share := range analysis.Shares(steps, sheet) {
			if i == len(figures) {
				figures = append(figures, Figure{Name: share.Figure})
			}
			if share.Step != "" {
				figures[i].Suites = append(figures[i].Suites, s.Name)
			}
		}
	}
	return figures
}
