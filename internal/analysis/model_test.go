package analysis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// costStep returns a step that measures a coefficient: a rate in its unit, and a histogram whose slowest
// tenth has the given latency.
func costStep(name, series string, perSecond float64, latency time.Duration, codes ...string) record.Step {
	s := record.Step{Name: name, Series: series, Workload: &record.Workload{}}
	r := &record.Result{IOPS: perSecond, BytesPerSecond: perSecond, IOs: 1000, Latency: record.NewHistogram([]record.Bin{
		{Latency: latency / 2, Count: 900}, {Latency: latency, Count: 100},
	})}
	if name[0] == 'w' {
		s.Write = r
	} else {
		s.Read = r
	}
	for _, code := range codes {
		s.Warnings = append(s.Warnings, record.Warning{Code: code, Text: "something"})
	}
	return s
}

// kernelDrive returns the coefficients that the kernel assumes for a fast drive (autop in
// block/blk-iocost.c).
func kernelDrive() []record.Step {
	return []record.Step{
		costStep("rbps", "", 3102524156.4, time.Millisecond),
		costStep("rseqiops", "", 724816, time.Millisecond),
		costStep("rrandiops", "", 778122, 300500*time.Nanosecond),
		costStep("wbps", "", 1742780862, time.Millisecond),
		costStep("wseqiops", "", 425702, time.Millisecond),
		costStep("wrandiops", "", 443193, 800*time.Microsecond),
	}
}

func costOptions() analysis.CostOptions { return analysis.CostOptions{Device: "259:0", Percentile: 95} }

func TestCostModel(t *testing.T) {
	m := analysis.CostModel(kernelDrive(), nil, costOptions())
	require.NotNil(t, m)
	assert.Empty(t, m.Withheld)
	assert.Equal(t, "259:0 ctrl=user model=linear rbps=3102524156 rseqiops=724816 rrandiops=778122 wbps=1742780862 wseqiops=425702 wrandiops=443193", m.ModelLine)
	assert.Equal(t, "259:0 enable=1 ctrl=user rpct=95.00 rlat=301 wpct=95.00 wlat=800 min=50.00 max=150.00", m.QoSLine)

	for _, c := range []struct {
		direction record.Direction
		pattern   record.Pattern
		bytes     int64
		micros    float64 // computed by hand: reading a page takes 1.32022 µs, writing one 2.35027 µs
	}{
		{record.Read, record.Random, 4096, 1.32022}, // 1/rrandiops is less than the cost of its page
		{record.Read, record.Sequential, 4096, 1.37966},
		{record.Write, record.Sequential, 4096, 2.35027},
		{record.Read, record.Sequential, 65536, 21.1829},
		{record.Write, record.Random, 1 << 20, 601.668},
	} {
		seconds, ok := m.Cost(c.direction, c.pattern, c.bytes)
		require.True(t, ok)
		assert.InEpsilon(t, c.micros, seconds*1e6, 1e-4)
	}
	assert.Nil(t, analysis.CostModel(nil, nil, costOptions()))
}

// When I/Os cost no more than their pages, the I/O itself costs 0, not less.
func TestCostOfAnIOIsNeverBelowItsPages(t *testing.T) {
	steps := kernelDrive()
	steps[1].Read.IOPS = 1e6 // at 4 KiB each, more than rbps
	m := analysis.CostModel(steps, nil, costOptions())
	seconds, _ := m.Cost(record.Read, record.Sequential, 4096)
	assert.InEpsilon(t, 4096/3102524156.4, seconds, 1e-9)
}

// Steps that measured something other than the device give no line.
func TestCostModelWithoutLines(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]record.Step) []record.Step
		run    []record.Warning
		o      analysis.CostOptions
		lacks  string
	}{
		"impossible": {change: warnedBy(2, record.WarnImpossible), lacks: "rrandiops (measured, but no repeat counts: impossible)"},
		"disturbed":  {change: warnedBy(0, record.WarnDisturbed), lacks: "rbps (measured, but no repeat counts: disturbed)"},
		"others":     {change: warnedBy(5, record.WarnOthersActive), lacks: "wrandiops (measured, but no repeat counts: others_active)"},
		"cut short":  {change: warnedBy(3, record.WarnShort), lacks: "wbps (measured, but no repeat counts: short)"},
		"stopped":    {change: func(s []record.Step) []record.Step { return s[:4] }, lacks: "wseqiops, wrandiops (not measured)"},
		"unwritten":  {run: []record.Warning{{Code: record.WarnUnmapped}}, lacks: "figures of the device alone (unmapped)"},
		"encrypted": {
			o: analysis.CostOptions{Device: "259:0", Stack: "crypt on eui.1-part2", Percentile: 95}, lacks: "figures of the device alone (measured through crypt on eui.1-part2; name the device itself)",
		},
		"a filesystem of several devices": {
			o: analysis.CostOptions{Percentile: 95}, lacks: "the number of the device, which is not known",
		},
		"only reads": {
			change: func(s []record.Step) []record.Step { return s[:3] }, o: analysis.CostOptions{Device: "259:0", Percentile: 95, Read: true},
			lacks: "the three for writes, as only reads were measured (--destroy SERIAL allows overwriting the device; or name a directory on it)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps := kernelDrive()
			if c.change != nil {
				steps = c.change(steps)
			}
			if c.o == (analysis.CostOptions{}) {
				c.o = costOptions()
			}
			m := analysis.CostModel(steps, c.run, c.o)
			require.NotNil(t, m)
			assert.Equal(t, []string{c.lacks}, m.Withheld)
			assert.Empty(t, m.ModelLine)
			assert.Empty(t, m.QoSLine)
		})
	}
}

func warnedBy(step int, code string) func([]record.Step) []record.Step {
	return func(steps []record.Step) []record.Step {
		steps[step].Warnings = append(steps[step].Warnings, record.Warning{Code: code, Text: "something"})
		return steps
	}
}

// A figure whose interval is wider than the figure itself is withheld from the kernel.
func TestCostModelOfRepeatsThatDiffer(t *testing.T) {
	steps := append(kernelDrive(), costStep("rbps 2", "rbps", 1102524156, time.Millisecond))
	m := analysis.CostModel(steps, nil, costOptions())
	assert.Equal(t, []string{"rbps (its 2 repeats differ by 95 %; want more --repeats)"}, m.Withheld)
	assert.Empty(t, m.ModelLine)
}

// A disturbed repeat is left out; the others give the spread.
func TestCostModelOfRepeats(t *testing.T) {
	steps := kernelDrive()[1:]
	steps = append(steps,
		costStep("rbps-repeat1", "rbps", 2.45e9, time.Millisecond), costStep("rbps-repeat2", "rbps", 7e9, time.Millisecond, record.WarnDisturbed),
		costStep("rbps-repeat3", "rbps", 2.55e9, time.Millisecond, record.WarnCPUBound))
	m := analysis.CostModel(steps, nil, costOptions())
	require.NotNil(t, m)
	assert.Contains(t, m.ModelLine, " rbps=2500000000 ")
	c, ok := m.Coefficient("rbps")
	require.True(t, ok)
	assert.Equal(t, []any{2, 1, []string{"disturbed"}, 2.45e9, 2.55e9, true}, []any{c.Repeats, c.LeftOut, c.Codes, c.Of.Min, c.Of.Max, c.CPUBound})
	assert.NotNil(t, c.Of.Mean.Lower)
}
