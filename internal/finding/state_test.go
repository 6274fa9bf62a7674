package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// judgedAs returns a target with a verdict and a probe whose p99 is in a state.
func judgedAs(v record.DriveVerdict, p99 record.DriftState) record.TargetStatus {
	p := record.ProbeStatus{Probe: record.Probe{Timeout: time.Second}, Drift: []record.Drift{{State: record.Stable}, {State: p99}}}
	if !p99.Judged() {
		p.Drift[1].Unjudged = &record.WhyUnjudged{Reason: record.ReasonFirstDay}
	}
	return record.TargetStatus{Verdict: &record.Judgement{Verdict: v}, Probes: []record.ProbeStatus{p}}
}

func TestStateIsTheWorstThatApplies(t *testing.T) {
	gone := func(s record.TargetStatus) record.TargetStatus {
		s.Problem = "no medium found"
		return s
	}
	hung := func(s record.TargetStatus) record.TargetStatus {
		s.Probes[0].InflightSince = now().Add(-time.Minute)
		return s
	}
	held := func(s record.TargetStatus) record.TargetStatus {
		s = hung(s)
		s.Traffic = &record.TrafficStatus{HeldBack: &record.HeldBack{Since: now()}}
		return s
	}
	for want, targets := range map[State][]record.TargetStatus{
		"healthy":       {judgedAs(record.Healthy, record.Improved), {Verdict: &record.Judgement{Verdict: record.Healthy}}},
		"partly judged": {judgedAs(record.Healthy, record.Waiting)},
		"unknown":       {judgedAs(record.Unjudged, record.Waiting), {}},
		"watch":         {judgedAs(record.Watch, record.Waiting)},
		"held back":     {held(judgedAs(record.Healthy, record.Stable)), held(judgedAs(record.Watch, record.Stable))},
		"not probed":    {gone(judgedAs(record.Unjudged, record.Stable)), gone(held(judgedAs(record.Watch, record.Stable)))},
		"degraded":      {judgedAs(record.Degraded, record.Stable), gone(judgedAs(record.Degraded, record.Stable))},
		"severe":        {judgedAs(record.Severe, record.Stable), gone(judgedAs(record.Severe, record.Stable))},
		"hung":          {hung(judgedAs(record.Healthy, record.Stable)), hung(gone(judgedAs(record.Severe, record.Stable)))},
	} {
		for i, target := range targets {
			assert.Equal(t, want, HealthOfTarget(target, now()).State, "%s %d", want, i)
		}
	}
	assert.Equal(t, "it takes a day to learn what is normal", HealthOfTarget(judgedAs(record.Healthy, record.Waiting), now()).Partly)
	assert.Empty(t, HealthOfTarget(judgedAs(record.Watch, record.Waiting), now()).Partly)
}

// Verdicts are in the same order everywhere.
func TestStatesAreInTheOrderOfVerdicts(t *testing.T) {
	var verdicts []record.DriveVerdict
	for _, s := range States() {
		if v := record.DriveVerdict(s); v.Badness() >= 0 {
			verdicts = append(verdicts, v)
		}
	}
	assert.Equal(t, record.DriveVerdicts(), verdicts)
}

// Green means known to be good.
func TestOnlyHealthyIsGood(t *testing.T) {
	grades := map[Grade][]State{}
	for _, s := range States() {
		grades[s.Grade()] = append(grades[s.Grade()], s)
	}
	assert.Equal(t, map[Grade][]State{
		Good: {"healthy"}, Unknown: {"partly judged", "unknown"}, Doubtful: {"watch", "held back"}, Bad: {"not probed", "degraded", "severe", "hung"},
	}, grades)
	newer := State("of a newer daemon")
	assert.Equal(t, Unknown, newer.Grade())
	assert.Greater(t, newer.Badness(), State(record.Healthy).Badness())
}

func TestSummary(t *testing.T) {
	healthy, partly := judgedAs(record.Healthy, record.Stable), judgedAs(record.Healthy, record.Waiting)
	partlyWatched := judgedAs(record.Watch, record.Waiting)
	for _, c := range []struct {
		targets  []record.TargetStatus
		findings []Finding
		want     string
		grade    Grade
	}{
		{nil, nil, "nothing is watched", Doubtful},
		{[]record.TargetStatus{healthy, healthy}, nil, "all well", Good},
		{[]record.TargetStatus{healthy}, []Finding{found(Quiet, "")}, "all well", Good},
		{[]record.TargetStatus{healthy, partly, {}}, nil, "no problem found, 2 of 3 targets not fully judged", Unknown},
		{[]record.TargetStatus{healthy, partlyWatched}, nil, "2 targets, 1 watch", Doubtful}, // by its traffic
		{[]record.TargetStatus{healthy}, []Finding{found(Suspect, "")}, "1 warning", Doubtful},
		{nil, []Finding{found(Hung, "a"), found(Suspect, ""), found(Stale, ""), found(Hung, "b")}, "2 critical, 2 warnings", Bad},
	} {
		text, grade := Summary(record.Snapshot{Time: now(), Targets: c.targets}, c.findings)
		assert.Equal(t, c.want, text)
		assert.Equal(t, c.grade, grade, c.want)
	}
}

func TestCountStates(t *testing.T) {
	states := []State{"healthy", "degraded", "severe", "watch", "degraded", ""}
	assert.Equal(t, ", 1 severe, 2 degraded", CountStates(states, Bad))
	assert.Equal(t, ", 1 severe, 2 degraded, 1 watch", CountStates(states, Doubtful))
	assert.Empty(t, CountStates(states[:1], Doubtful))
}
