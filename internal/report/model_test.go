package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// modelRun returns the suite model with two repeats. In both, the CPU was the limit of the random reads, and in one
// repeat others used the drive. A daemon has learned costs of the drive.
func modelRun() record.RunReport {
	var steps []record.Step
	for repeat := 1; repeat <= 2; repeat++ {
		faster := 1 - 0.02*float64(repeat-1)
		for _, c := range []struct {
			name      string
			direction record.Direction
			pattern   record.Pattern
			block     int64
			depth     int
			slow      float64
		}{
			{"rbps", record.Read, record.Sequential, 128 << 20, 1, 200}, {"rseqiops", record.Read, record.Sequential, 4096, 64, 0.9},
			{"rrandiops", record.Read, record.Random, 4096, 64, 1}, {"wbps", record.Write, record.Sequential, 128 << 20, 1, 400},
			{"wseqiops", record.Write, record.Sequential, 4096, 64, 1.4}, {"wrandiops", record.Write, record.Random, 4096, 64, 1.6},
		} {
			w := record.Workload{Direction: c.direction, Pattern: c.pattern, BlockBytes: c.block, QueueDepth: c.depth, Jobs: 1, Repeat: repeat}
			s := step(fmt.Sprintf("%s-repeat%d", c.name, repeat), w, result(slowed(depth32(5000), c.slow*faster), c.block, float64(c.depth)))
			s.Series = c.name
			if c.name == "rrandiops" {
				s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnCPUBound, Text: "The load generator used 97 % of one CPU: the CPU was the limit, not the drive; use more jobs."})
			}
			if c.name == "rrandiops" && repeat == 2 {
				s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnOthersActive, Text: "Others used the device meanwhile: they read 1.2 GB and wrote 0 B, beside the 3 GB of this run; repeat when it is idle."})
			}
			steps = append(steps, s)
		}
	}
	r := suiteRun("model", steps...)
	m := analysis.CostModel(steps, nil, analysis.CostOptions{Device: r.Device.Number, Percentile: 95})
	m.Learned = &record.LearnedCosts{Target: r.TargetID, Source: "traffic", Read: 78e-6, Write: 21e-6, ReadKiB: 0.3e-6, WrittenKiB: 0.6e-6}
	r.Analysis = &record.Analysis{CostModel: m}
	return r
}

func TestBriefOfAModel(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.Brief(&b, modelRun()))
	golden(t, "brief_model.txt", b.String())
	assert.Regexp(t, `(?m)^259:0 ctrl=user model=linear rbps=\d+ rseqiops=\d+ rrandiops=\d+ wbps=\d+ wseqiops=\d+ wrandiops=\d+$`, b.String(), "one line, to be pasted")
	assert.Regexp(t, `(?m)^259:0 enable=1 ctrl=user rpct=95.00 rlat=\d+ wpct=95.00 wlat=\d+ min=50.00 max=150.00$`, b.String())
}

// When figures are missing, nothing can be mistaken for a complete line.
func TestModelWithoutLines(t *testing.T) {
	r := modelRun()
	r.Steps = r.Steps[:3]
	r.Analysis.CostModel = analysis.CostModel(r.Steps, nil, analysis.CostOptions{Device: "259:0", Percentile: 95, Read: true})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"brief":   func(b *bytes.Buffer) error { return report.Brief(b, r) },
		"verbose": func(b *bytes.Buffer) error { return report.Run(b, r) },
		"page":    func(b *bytes.Buffer) error { return report.HTML(b, report.NewDocument(r, nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, write(&b))
			assert.Contains(t, b.String(), "There are no lines for io.cost of nvme0n1 (259:0). Missing: the three for writes")
			assert.Contains(t, b.String(), "rrandiops", "the figures are told")
			assert.NotContains(t, b.String(), "ctrl=user")
		})
	}
}

// The advice to stop other activity is given only when that activity is the reason.
func TestAdviceWhereCoefficientsLack(t *testing.T) {
	for want, codes := range map[string][]string{
		"Stop what else uses the device": {record.WarnDisturbed, record.WarnOthersActive},
		"":                               {record.WarnDisturbed, record.WarnErrors},
	} {
		r := modelRun()
		m := analysis.CostModel(r.Steps, nil, analysis.CostOptions{Device: "259:0", Percentile: 95})
		m.ModelLine, m.QoSLine, m.Withheld = "", "", []string{"rbps"}
		m.Coefficients[0].Repeats, m.Coefficients[0].LeftOut, m.Coefficients[0].Codes = 0, 3, codes
		r.Analysis.CostModel = m
		var b bytes.Buffer
		require.NoError(t, report.Brief(&b, r))
		assert.Contains(t, b.String(), "There are no lines for io.cost")
		if want == "" {
			assert.NotContains(t, b.String(), "Stop what else")
		} else {
			assert.Contains(t, strings.Join(strings.Fields(b.String()), " "), want)
		}
	}
}
