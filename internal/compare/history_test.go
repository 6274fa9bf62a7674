package compare_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// nightly returns a run on day n with one load at the given IOPS.
func nightly(n int, iops float64) record.RunReport {
	r := runOf(steps("random-read-qd1", iops)...)
	r.Started = day(n)
	return r
}

func TestHistory(t *testing.T) {
	short, disturbed := warned(nightly(1, 1000), record.WarnShort, 0), warned(nightly(1, 1000), record.WarnDisturbed, 0)
	other, deeper, later, larger := nightly(1, 1000), nightly(1, 1000), nightly(30, 1000), nightly(1, 1000)
	other.Conditions.Firmware = "B"
	deeper.Steps[0].Plan = "4 KiB random read, depth 2"
	larger.File = &record.RunFile{Bytes: 64 << 20}
	now := func(iops float64) record.RunReport {
		r := nightly(9, iops)
		r.File = &record.RunFile{Bytes: 16 << 20}
		return r
	}
	usual := []record.RunReport{nightly(1, 10000), nightly(2, 10200), nightly(3, 9900), nightly(4, 10100), short, disturbed, other, deeper, later, larger}
	compared := record.ComparedFigure{Statistic: record.IOPS, Before: 10050, Best: 10200, Worst: 9900}
	few := "it needs 4 earlier runs under the same conditions, and has "
	for name, c := range map[string]struct {
		now     record.RunReport
		earlier []record.RunReport
		want    record.ComparedFigure // for the IOPS
		runs    int
		verdict record.Verdict
		reason  string
	}{
		"same":   {now(9850), usual, compared, 4, record.Same, ""},
		"slower": {now(9000), usual, compared, 4, record.Slower, ""},
		"faster": {now(11000), usual, compared, 4, record.Faster, ""},
		"within what they differ": {
			now(8000), []record.RunReport{nightly(1, 8500), nightly(2, 12000), nightly(3, 9000), nightly(4, 10000)},
			record.ComparedFigure{Before: 9500, Best: 12000, Worst: 8500}, 4, record.Same, "",
		},
		"too few": {
			now(5000), usual[:3], record.ComparedFigure{Before: 10000, Best: 10200, Worst: 9900}, 3, record.Inconclusive, few + "3",
		},
		"the first": {now(5000), usual[4:], record.ComparedFigure{}, 0, record.Inconclusive, few + "0"},
		"disturbed": {warned(now(5000), record.WarnDisturbed, 0), usual, compared, 4, record.Inconclusive, "1 of 1 load cannot decide (disturbed)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare.History(c.now, c.earlier)
			require.NotNil(t, got)
			assert.Equal(t, c.verdict, got.Verdict)
			assert.Equal(t, c.reason, got.Reason)
			require.Len(t, got.Loads, 1)
			assert.Equal(t, c.runs, got.Loads[0].Before)
			iops := got.Loads[0].Figures[0]
			c.want.Statistic, c.want.Verdict, c.want.After = record.IOPS, c.verdict, c.now.Steps[0].Read.IOPS
			c.want.Slower.Value = record.IOPS.Slower(c.want.Before, c.want.After)
			assert.Equal(t, c.want, iops)
		})
	}
	several := func(n int, iops float64, codes ...string) record.RunReport {
		r := runOf(slices.Concat(steps("random-read-qd1", iops), steps("random-read-qd32", iops), steps("read-128k", iops))...)
		r.Started = day(n)
		for i, code := range codes {
			r = warned(r, code, i)
		}
		return r
	}
	before := []record.RunReport{several(1, 10000), several(2, 10200), several(3, 9900), several(4, 10100)}
	assert.Equal(t, record.Slower, compare.History(several(9, 5000, record.WarnDisturbed), before).Verdict, "two of three loads may decide")
	one := compare.History(several(9, 5000, record.WarnDisturbed, record.WarnShort), before)
	assert.Equal(t, record.Inconclusive, one.Verdict, "one of several loads never decides")
	assert.Equal(t, "2 of 3 loads cannot decide (disturbed, short)", one.Reason)
	assert.Equal(t, 4, compare.History(now(9850), usual).Runs, "no more than a load was compared with")
	// A new load, as after an upgrade, makes the comparison inconclusive.
	newer := now(9850)
	newer.Steps = append(newer.Steps, steps("new", 100)...)
	got := compare.History(newer, usual)
	assert.Equal(t, record.Inconclusive, got.Verdict)
	assert.Equal(t, "it needs 4 earlier runs under the same conditions, and 1 of 2 loads have fewer", got.Reason)
	assert.Nil(t, compare.History(runOf(), usual), "a run that measured nothing")
}

// A slower p99 in one load does not make a run slower; in two loads it does.
func TestTailsOfAHistory(t *testing.T) {
	night := func(n int, a, b time.Duration) record.RunReport {
		r := runOf(record.Step{Name: "a", Read: result(5000, 1000, 100*us, a)}, record.Step{Name: "b", Write: result(5000, 500, 100*us, b)})
		r.Started = day(n)
		return r
	}
	var earlier []record.RunReport
	for i := range 5 {
		earlier = append(earlier, night(i+1, 200*us+time.Duration(i), 200*us+time.Duration(i)))
	}
	assert.Equal(t, record.Same, compare.History(night(8, 600*us, 200*us), earlier).Verdict)
	assert.Equal(t, record.Slower, compare.History(night(8, 600*us, 600*us), earlier).Verdict)

	for _, run := range earlier {
		run.Steps[0].Read, run.Steps[1].Write = result(500, 1000, 100*us, 200*us), result(500, 500, 100*us, 200*us)
	}
	got := compare.History(night(8, 600*us, 600*us), earlier)
	assert.Equal(t, record.Same, got.Verdict, "a p99 of few I/Os decides on neither side")
	assert.Equal(t, record.Inconclusive, got.Loads[0].Figures[2].Verdict)
}
