package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Steps that were all disturbed give no headline.
func TestDisturbedRunsHaveNoHeadline(t *testing.T) {
	for want, r := range map[string]record.RunReport{
		"the knee is not known: 22 steps did not measure the drive alone (disturbed).":                  twice(depthRun()),
		"The evenness of the speed is not known: 96 steps did not measure the drive alone (disturbed).": twice(linearRun()),
	} {
		for i := range r.Steps {
			r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
		}
		r.Analysis = &record.Analysis{Knees: analysis.Knees(r.Steps), Offsets: analysis.Offsets(r.Steps)}
		text := strings.Join(strings.Fields(runText(t, r)), " ")
		assert.Contains(t, text, want)
		assert.NotContains(t, text, "The slowest place")
	}
}

// A share of the data sheet that disturbed steps measured is no headline, and says so beside the figure.
func TestDisturbedSharesOfTheDataSheetAreNoHeadline(t *testing.T) {
	r := sheetRun()
	all := strings.Join(strings.Fields(runText(t, r)), " ")
	assert.Contains(t, all, "30 % (cpu_bound).", "a drive is not to blame for the CPU")
	r.Analysis.DataSheet[0].Codes = []string{record.WarnDisturbed}
	some := strings.Join(strings.Fields(runText(t, r)), " ")
	assert.Contains(t, some, "furthest from its data sheet in sequential read: 5 500 MB/s measured, 6 900 MB/s promised, 80 % (errors). "+
		"These shares are uncertain, because steps did not measure the drive alone: random read, 30 % (disturbed, cpu_bound).")
	assert.Contains(t, some, "30 % random-read-qd32 disturbed, cpu_bound")
	for i := range r.Analysis.DataSheet {
		r.Analysis.DataSheet[i].Codes = []string{record.WarnDisturbed}
	}
	none := runText(t, r)
	assert.NotContains(t, none, "furthest from its data sheet")
}

// The interrupts of a step have its warnings beside them: disturbed jobs are interrupted less.
func TestInterruptsHaveTheWarningsOfTheirStep(t *testing.T) {
	r := sheetRun()
	r.Steps[0].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
	require.Equal(t, r.Steps[0].Name, r.Analysis.Interrupts[0].Step)
	text := strings.Join(strings.Fields(runText(t, r)), " ")
	assert.Contains(t, text, "interrupts per second, in random-read-qd1 (disturbed): ")
	assert.Contains(t, text, "random-read-qd1 off 1.00 12 544 disturbed")
}

// What the data sheet promises and no step measured is said, and has no share.
func TestFiguresOfTheDataSheetThatNoStepMeasured(t *testing.T) {
	r := sheetRun()
	text := strings.Join(strings.Fields(runText(t, r)), " ")
	assert.Contains(t, text, "30 % (cpu_bound). No step measured 16 KiB random write.")
	assert.Contains(t, text, "16 KiB random write 40 000 IOPS not measured")
	assert.NotContains(t, text, " 0 %")
	for i := range r.Analysis.DataSheet {
		r.Analysis.DataSheet[i].Step = ""
	}
	assert.Contains(t, strings.Join(strings.Fields(runText(t, r)), " "),
		"No step measured 4 KiB random read, sequential read of at least 128 KiB, 4 KiB random read latency, 16 KiB random write.")
}

// What disturbed steps show of a setting, of devices at once and of spans is no headline either.
func TestDisturbedStepsConcludeNothing(t *testing.T) {
	for want, r := range map[string]record.RunReport{
		"What the setting changes is not known, because steps did not measure the drive alone.":          cacheRun(),
		"devices slow each other down is not known: steps did not measure the drives alone (disturbed).": scaleRun(),
		"is not known for 2 of 2 loads: steps did not measure the drive alone (disturbed).":              spanRun(),
		"The limit is not known, because steps did not measure the drive alone (disturbed): ":            cpusRun(),
	} {
		for i := range r.Steps {
			r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
		}
		r.Analysis = &record.Analysis{
			Effects: analysis.Effects(r.Steps, "write cache"), Scalings: analysis.Scalings(r.Steps), Spans: analysis.Spans(r.Steps), CPUs: analysis.CPUScalings(r.Steps, analysis.Machine{CPUs: 32}),
		}
		assert.Contains(t, strings.Join(strings.Fields(runText(t, r)), " "), want)
	}
}

// A verdict on a setting that is inconclusive says why, unless the interval shows it.
func TestWhyAnEffectIsInconclusive(t *testing.T) {
	for want, change := range map[string]func(*record.Step){
		"1.04× inconclusive": func(*record.Step) {},
		"faster": func(s *record.Step) {
			s.Write.IOPS *= map[string]float64{"on": 1, "off": 20}[s.Workload.Settings["write cache"]]
		},
		"inconclusive (disturbed)": func(s *record.Step) {
			s.Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
		},
		"inconclusive (one run each)": func(s *record.Step) {
			if s.Workload.Repeat != 2 {
				s.Write = nil
			}
		},
	} {
		r := cacheRun()
		for i := range r.Steps {
			change(&r.Steps[i])
		}
		r.Analysis = &record.Analysis{Effects: analysis.Effects(r.Steps, "write cache")}
		assert.Contains(t, strings.Join(strings.Fields(runText(t, r)), " "), want)
	}
}

// A window of disturbed rounds is no steady state to show to a vendor.
func TestDisturbedRoundsAreNamedWithTheSteadyState(t *testing.T) {
	r := steadyRun()
	for i := range r.Steps {
		r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
	}
	r.Analysis = &record.Analysis{Steady: analysis.Steadiness(r.Steps, analysis.PTS())}
	assert.Contains(t, strings.Join(strings.Fields(runText(t, r)), " "), "Some of these rounds did not measure the drive alone (disturbed).")

	r = spanRun()
	for i := range r.Steps {
		r.Steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The host was busy."}}
	}
	r.Analysis = &record.Analysis{Spares: analysis.Spares(r.Steps, analysis.PTS())}
	assert.Contains(t, strings.Join(strings.Fields(runText(t, r)), " "), "with 0 % spare (disturbed)")
}

// How long a sync takes is a headline, too: it leaves disturbed repeats out, or says that there are no others.
func TestDisturbedSyncsAreNotMixedWithCalmOnes(t *testing.T) {
	syncs := func(name string, of record.Histogram, codes ...string) record.Step {
		s := record.Step{Name: name, Series: "log", Sync: result(of, 0, 1), Write: result(of, 4<<10, 1)}
		for _, code := range codes {
			s.Warnings = append(s.Warnings, record.Warning{Code: code, Text: "The host was busy."})
		}
		return s
	}
	calm, slow := syncs("a", depth1(2000)), syncs("b", slowed(depth1(20_000), 100), record.WarnDisturbed)
	text := func(steps ...record.Step) string {
		r := suiteRun("durable-write", steps...)
		r.Analysis = &record.Analysis{}
		return strings.Join(strings.Fields(runText(t, r)), " ")
	}
	assert.Contains(t, text(calm, slow), "A sync takes 78.0 µs in the median, 118 µs at p99, over 2 000 syncs in 1 step. Left out: 1 step did not measure the drive alone (disturbed).")
	assert.Contains(t, text(slow), "over 20 000 syncs in 1 step; 1 step did not measure the drive alone (disturbed).")
}

// The mean of repeats has the warnings of the repeats beside it, as all tables have.
func TestTheTableOfRepeatsHasTheirWarnings(t *testing.T) {
	r := twice(depthRun())
	r.Analysis = &record.Analysis{Spreads: analysis.Spreads(r.Steps)}
	_, section, _ := strings.Cut(runText(t, r), "\nRepeats and their spread")
	assert.Regexp(t, `random-read-qd8 .* disturbed\n`, section)
}

// The block size of a figure is shown where it is not the usual one, and where no step of that size measured it. Reports of
// builds that compared any size have none.
func TestFiguresOfTheDataSheetNameTheirBlocks(t *testing.T) {
	r := sheetRun()
	r.Analysis.DataSheet = []record.SheetShare{
		{Figure: "random read", Unit: "IOPS", BlockBytes: 4 << 10, Promised: 1e6},
		{Figure: "random write", Unit: "IOPS", BlockBytes: 16 << 10, Promised: 43e3, Measured: 34e3, Step: "w", Share: 0.79},
		{Figure: "sequential read", Unit: "B/s", BlockBytes: 128 << 10, Promised: 7e9, Measured: 6.9e9, Step: "r", Share: 0.98, Codes: []string{record.WarnDisturbed}},
		{Figure: "sequential write", Unit: "B/s", BlockBytes: 1 << 20, Promised: 3e9},
		{Figure: "random read latency", Unit: "s", BlockBytes: 16 << 10, Promised: 85e-6, Measured: 100e-6, Step: "l", Share: 0.85, Codes: []string{record.WarnDisturbed}},
		{Figure: "random write latency", Unit: "s", Promised: 20e-6, Measured: 21e-6, Step: "o", Share: 0.95},
	}
	text := strings.Join(strings.Fields(runText(t, r)), " ")
	assert.Contains(t, text, "furthest from its data sheet in 16 KiB random write: 34 000 IOPS measured, 43 000 IOPS promised, 79 %. "+
		"These shares are uncertain, because steps did not measure the drive alone: sequential read, 98 % (disturbed); 16 KiB random read latency, 85 % (disturbed). "+
		"No step measured 4 KiB random read, sequential write of at least 1 MiB.")
	for _, row := range []string{
		"4 KiB random read 1 000 000 IOPS not measured", "16 KiB random write 43 000 IOPS 34 000", " sequential read 7 000 MB/s 6 900",
		"sequential write of at least 1 MiB 3 000 MB/s not measured", "16 KiB random read latency 85.0 µs", " random write latency 20.0 µs 21.0",
	} {
		assert.Contains(t, text, row)
	}
}
