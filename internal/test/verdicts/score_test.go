package verdicts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

func TestUpperBound(t *testing.T) {
	// Garwood's table of two-sided 90 % limits, which are one-sided 95 % limits.
	assert.InDelta(t, 2.996, verdicts.UpperBound(0), 0.001)
	assert.InDelta(t, 4.744, verdicts.UpperBound(1), 0.001)
	assert.InDelta(t, 16.962, verdicts.UpperBound(10), 0.001)
}

const hour = time.Hour

// node returns a node of three drives. One is 20 % slower from the tenth hour to the twentieth, and another 30 %
// slower from the fifteenth on. The second is twice as slow from the fiftieth hour on.
func node(host ...drifttest.Episode) drifttest.Scenario {
	drive := func(id string, e ...drifttest.Episode) drifttest.Drive {
		return drifttest.Drive{ID: id, To: 100 * hour, Episodes: e}
	}
	return drifttest.Scenario{Kind: "one", Noise: "calm", Noises: []string{"calm"}, Duration: 100 * hour, Host: host, Drives: []drifttest.Drive{
		drive("a", drifttest.Episode{Kind: "step20", Scope: drifttest.OfDrive, Onset: 10 * hour, End: 20 * hour, Slower: 1.2},
			drifttest.Episode{Kind: "fault", Scope: drifttest.OfDrive, Onset: 15 * hour, End: 20 * hour, Slower: 1.3}),
		drive("b", drifttest.Episode{Kind: "double", Scope: drifttest.OfDrive, Onset: 50 * hour, End: 100 * hour, Slower: 2}),
		drive("c"),
	}}
}

func blame(at time.Duration, drive string, severity verdicts.Severity) verdicts.Finding {
	return verdicts.Finding{At: at, Drive: drive, Scope: drifttest.OfDrive, Severity: severity}
}

func found(f ...verdicts.Finding) verdicts.Judged { return verdicts.Judged{Findings: f} }

func TestScore(t *testing.T) {
	slow := drifttest.Episode{Kind: "host20", Scope: drifttest.OfHost, Onset: 60 * hour, End: 100 * hour, Slower: 1.2}
	ofHost := func(at time.Duration) verdicts.Finding { return verdicts.Finding{At: at, Scope: drifttest.OfHost} }
	noisy := func(slower float64) verdicts.Finding {
		f := ofHost(59 * hour)
		f.HostNoise = slower
		return f
	}
	felt := func(more float64) verdicts.Finding {
		f := blame(11*hour, "a", verdicts.Severe)
		f.Felt = more
		return f
	}
	for name, c := range map[string]struct {
		node  drifttest.Scenario
		found []verdicts.Finding
		wrong map[verdicts.Reason]int
		said  string // what Found says of step20
	}{
		"silence":           {node(), nil, nil, "0 of 1, median never, worst never"},
		"right":             {node(), []verdicts.Finding{blame(10*hour+hour/2, "a", verdicts.Degraded), blame(21*hour, "a", verdicts.Degraded)}, nil, "1 of 1, median 30.0 min, worst 30.0 min"},
		"too early":         {node(), []verdicts.Finding{blame(9*hour, "a", verdicts.Degraded)}, map[verdicts.Reason]int{verdicts.Nothing: 1}, "0 of 1, median never, worst never"},
		"over":              {node(), []verdicts.Finding{blame(22*hour, "a", verdicts.Degraded)}, map[verdicts.Reason]int{verdicts.Over: 1}, "0 of 1, median never, worst never"},
		"overstated":        {node(), []verdicts.Finding{blame(11*hour, "a", verdicts.Severe)}, map[verdicts.Reason]int{verdicts.Overstated: 1}, "1 of 1, median 60.0 min, worst 60.0 min"},
		"felt more":         {node(), []verdicts.Finding{felt(1.6)}, map[verdicts.Reason]int{verdicts.FeltMore: 1}, "1 of 1, median 60.0 min, worst 60.0 min"},
		"felt as much":      {node(), []verdicts.Finding{felt(1.4)}, map[verdicts.Reason]int{verdicts.Overstated: 1}, "1 of 1, median 60.0 min, worst 60.0 min"},
		"both at once":      {node(), []verdicts.Finding{blame(16*hour, "a", verdicts.Severe)}, nil, "1 of 1, median 6.0 h, worst 6.0 h"},
		"twice within 6 h":  {node(), []verdicts.Finding{blame(30*hour, "c", verdicts.Degraded), blame(35*hour, "c", verdicts.Degraded)}, map[verdicts.Reason]int{verdicts.Nothing: 1}, "0 of 1, median never, worst never"},
		"twice":             {node(), []verdicts.Finding{blame(30*hour, "c", verdicts.Degraded), blame(37*hour, "c", verdicts.Degraded)}, map[verdicts.Reason]int{verdicts.Nothing: 2}, "0 of 1, median never, worst never"},
		"for the host":      {node(slow), []verdicts.Finding{blame(61*hour, "c", verdicts.Degraded)}, map[verdicts.Reason]int{verdicts.HostDidIt: 1}, "0 of 1, median never, worst never"},
		"the host":          {node(slow), []verdicts.Finding{ofHost(61 * hour)}, nil, "0 of 1, median never, worst never"},
		"a noisy host":      {node(slow), []verdicts.Finding{noisy(1.1)}, map[verdicts.Reason]int{verdicts.HostNoisy: 1}, "0 of 1, median never, worst never"},
		"hardly a noise":    {node(slow), []verdicts.Finding{noisy(1.05)}, map[verdicts.Reason]int{verdicts.NoHost: 1}, "0 of 1, median never, worst never"},
		"the host, falsely": {node(slow), []verdicts.Finding{ofHost(59 * hour)}, map[verdicts.Reason]int{verdicts.NoHost: 1}, "0 of 1, median never, worst never"},
	} {
		t.Run(name, func(t *testing.T) {
			var s verdicts.Score
			s.Add(name, c.node, found(c.found...))
			wrong := map[verdicts.Reason]int{}
			for _, w := range s.Wrong {
				wrong[w.Why]++
			}
			if c.wrong == nil {
				c.wrong = map[verdicts.Reason]int{}
			}
			assert.Equal(t, c.wrong, wrong)
			assert.Equal(t, c.said, s.Of("step20").String())
			assert.InEpsilon(t, (89+50+100)*hour.Hours(), s.Drives*verdicts.Year.Hours(), 1e-9, "without what happened, and an hour after it")
			assert.Equal(t, 1, s.Lasting)
		})
	}
}

// A drive that creeps for a month is 1.3 times slower. With a batch on top it is nearly twice as slow.
func TestSlowdownsThatVaryCount(t *testing.T) {
	creep := drifttest.Episode{Kind: "creep", Scope: drifttest.OfDrive, End: 60 * 24 * hour, Slower: 1}
	batch := drifttest.Episode{Kind: "batch", Scope: drifttest.OfBatch, Onset: 30 * 24 * hour, End: 60 * 24 * hour, Slower: 1.4}
	spells := drifttest.Episode{Kind: "intermittent", Scope: drifttest.OfDrive, End: 60 * 24 * hour, Slower: 1}
	for name, c := range map[string]struct {
		episodes []drifttest.Episode
		day      time.Duration
		wrong    int
	}{
		"it creeps":               {[]drifttest.Episode{creep}, 29, 1},
		"a batch":                 {[]drifttest.Episode{batch}, 31, 1},
		"both":                    {[]drifttest.Episode{creep, batch}, 31, 0},
		"one that comes and goes": {[]drifttest.Episode{spells}, 31, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s verdicts.Score
			n := node()
			n.Duration = 60 * 24 * hour
			n.Drives = []drifttest.Drive{{ID: "a", To: n.Duration, Episodes: c.episodes}}
			s.Add(name, n, found(blame(c.day*24*hour, "a", verdicts.Severe)))
			assert.Len(t, s.Wrong, c.wrong)
		})
	}
}

func TestALastingDoubleIsToBeSevereSoon(t *testing.T) {
	var s verdicts.Score
	s.Add("late", node(), found(blame(50*hour+10*time.Minute, "b", verdicts.Degraded), blame(50*hour+16*time.Minute, "b", verdicts.Severe)))
	s.Add("soon", node(), found(blame(50*hour+10*time.Minute, "b", verdicts.Severe)))
	assert.Equal(t, []int{2, 2, 1}, []int{s.Lasting, s.LastingBlamed, s.LastingSevere})
}

func TestHowLongASevereVerdictStands(t *testing.T) {
	right, wrong := blame(50*hour, "b", verdicts.Severe), blame(20*hour+30*time.Minute, "c", verdicts.Severe)
	right.Stood, wrong.Stood = 7*hour, 25*time.Minute
	var s verdicts.Score
	s.Add("node", node(), found(wrong, right))
	var table strings.Builder
	require.NoError(t, s.WriteFleet(&table, true))
	assert.Equal(t, []time.Duration{7 * hour}, s.Stood)
	assert.Equal(t, []time.Duration{7 * hour}, s.LongestStood)
	assert.InEpsilon(t, (25*time.Minute).Hours()/s.Drives/verdicts.Year.Hours(), s.FalseShare(), 1e-6, "of the wrong one")
	assert.Regexp(t, `20\.0 min +1 in .* 1 of 1 +1 in .* 1 of 1\n30\.0 min +0 in .* 1 of 1 +0 in .* 1 of 1\n`, table.String())
	assert.Regexp(t, `severe drive +0\.00 +25\.0 min`, table.String())
}

func TestWhatIsShownOfALastingDouble(t *testing.T) {
	n := node()
	n.Drives[1].To = 90 * hour
	var s verdicts.Score
	s.Add("node", n, verdicts.Judged{Shown: []verdicts.Shown{
		{Drive: "b", Verdict: record.Unjudged, To: 2 * hour}, {Drive: "b", Verdict: record.Healthy, From: 2 * hour, To: 51 * hour},
		{Drive: "b", Verdict: record.Unjudged, From: 51 * hour, To: 55 * hour}, {Drive: "b", Verdict: record.Severe, From: 55 * hour, To: 100 * hour},
	}})
	var all verdicts.Score
	all.Merge(s)
	var table strings.Builder
	require.NoError(t, all.WriteFleet(&table, false))
	assert.Regexp(t, `meanwhile shown as healthy +2\.50 % of the time; unknown for 10\.00 %\n`, table.String())
	assert.Regexp(t, `all drives are unknown for +6\.67 % of the time\n`, table.String())
}

// What is shown of a drive adds up to the time for which it is there.
func TestWhatIsShownIsComplete(t *testing.T) {
	s := drifttest.Fleet{Seed: 45, Days: 30, Interval: 2 * time.Minute}.Node(92)
	judged, err := verdicts.Judge(s, drift.Settings{})
	require.NoError(t, err)
	for _, d := range s.Drives {
		last, seen := d.From, 0
		for _, v := range judged.Shown {
			if v.Drive == d.ID {
				assert.Equal(t, last, v.From, d.ID)
				last, seen = v.To, seen+1
			}
		}
		assert.GreaterOrEqual(t, last, min(d.To, s.Duration), d.ID)
		assert.Greater(t, seen, 1, "%s was judged", d.ID)
	}
}

// A verdict stands until another one is made about the drive, or to the end.
func TestAVerdictEnds(t *testing.T) {
	s := drifttest.Fleet{Seed: 45, Days: 30, Interval: 2 * time.Minute}.Node(92)
	judged, err := verdicts.Judge(s, drift.Settings{})
	require.NoError(t, err)
	until := map[string]time.Duration{}
	for _, f := range judged.Findings {
		if f.Drive == "" || f.Severity == verdicts.Regressed {
			assert.Zero(t, f.Stood)
			continue
		}
		assert.Positive(t, f.Stood)
		assert.LessOrEqual(t, f.At+f.Stood, s.Duration)
		if f.Severity == verdicts.Severe {
			assert.GreaterOrEqual(t, f.At, until[f.Drive], "one severe verdict about a drive at a time")
			until[f.Drive] = f.At + f.Stood
		}
	}
}

func TestADriveAloneCannotTellItsHost(t *testing.T) {
	alone := node(drifttest.Episode{Kind: "host20", Scope: drifttest.OfHost, Onset: 60 * hour, End: 100 * hour, Slower: 1.2})
	alone.Drives = alone.Drives[2:]
	var s verdicts.Score
	s.Add("alone", alone, found(blame(61*hour, "c", verdicts.Degraded)))
	assert.Empty(t, s.Wrong)
	assert.Zero(t, s.Nodes)
	assert.InEpsilon(t, s.Drives, s.Alone, 1e-9)

	for from, wrong := range map[time.Duration]int{59 * hour: 1, 70 * hour: 0} { // another one before the host got slower, and after
		later := alone
		later.Drives = append(slices.Clone(alone.Drives), drifttest.Drive{ID: "d", From: from, To: 100 * hour})
		var s verdicts.Score
		s.Add("later", later, found(blame(61*hour, "c", verdicts.Degraded)))
		assert.Len(t, s.Wrong, wrong, "%v", from)
	}
}

// A batch that is all drives of the node looks like the host.
func TestABatchOfAllDrivesIsTheHost(t *testing.T) {
	for all, wrong := range map[bool]int{true: 0, false: 1} {
		n := node()
		for i := range n.Drives {
			n.Drives[i].Episodes = nil
			if all || i > 0 {
				n.Drives[i].Episodes = []drifttest.Episode{{Kind: "batch", Scope: drifttest.OfBatch, Onset: 30 * hour, End: 100 * hour, Slower: 1.3}}
			}
		}
		var s verdicts.Score
		s.Add("batch", n, found(verdicts.Finding{At: 31 * hour, Scope: drifttest.OfHost, Severity: verdicts.Degraded}))
		assert.Len(t, s.Wrong, wrong)
		assert.Len(t, s.Of("batch").Delays, 3*(1-wrong))
	}
}

// A Duration ends at 292 years.
func TestThousandsOfYears(t *testing.T) {
	var one, all verdicts.Score
	one.Add("node", node(), found(blame(30*hour, "a", verdicts.Severe)))
	for range 100_000 {
		all.Merge(one)
	}
	assert.InEpsilon(t, 100_000*one.Drives, all.FalseDrives().Years, 1e-6)
}

func TestABackupMayBeToldOnce(t *testing.T) {
	nightly := node()
	nightly.Noises = []string{"backup"}
	var s verdicts.Score
	s.Add("nightly", nightly, found(verdicts.Finding{At: 24 * hour, Scope: drifttest.OfHost}, verdicts.Finding{At: 48 * hour, Scope: drifttest.OfHost}))
	assert.Len(t, s.Wrong, 1)
	assert.Equal(t, verdicts.Again, s.Wrong[0].Why)
}

// Rounds out of turn confirm a suspicion within the minute, as often as the daemon allows.
func TestRoundsOutOfTurnFindADriveSooner(t *testing.T) {
	round := func(minute int) drift.Values {
		x := 80e-6 * (1 + 0.02*float64(minute*7%17-8)/8)
		if minute >= 2*24*60 {
			x *= 5
		}
		return drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}
	}
	found := func(again bool) (at time.Duration, asked int) {
		minute := 0
		s := drifttest.Scenario{Interval: time.Minute, Duration: 49 * hour, Drives: []drifttest.Drive{{ID: "a", To: 49 * hour}}}
		s.Samples = func(yield func(int, drifttest.Sample) bool) {
			for minute = range 49 * 60 {
				if !yield(0, drifttest.Sample{Time: drifttest.Start().Add(time.Duration(minute) * time.Minute), Values: round(minute)}) {
					return
				}
			}
		}
		if again {
			s.Again = func(int, time.Duration) (drift.Values, bool) { asked++; return round(minute), true }
		}
		judged, err := verdicts.Judge(s, drift.Settings{})
		require.NoError(t, err)
		require.NotEmpty(t, judged.Findings)
		return judged.Findings[0].At - 48*hour, asked
	}
	later, _ := found(false)
	sooner, asked := found(true)
	assert.Equal(t, 40*time.Second, sooner)
	assert.Greater(t, later, sooner)
	assert.Positive(t, asked)
	assert.LessOrEqual(t, asked, 12)
}

// A finding about a host says how slow the noise of the host was, compared with its first day.
func TestHostNoise(t *testing.T) {
	s := drifttest.Scenario{Noise: "made", Noises: []string{"made"}, Interval: time.Minute, Duration: 72 * hour}
	for _, id := range []string{"a", "b", "c", "d"} {
		s.Drives = append(s.Drives, drifttest.Drive{ID: id, Model: "M", SizeBytes: 1, To: s.Duration})
	}
	s.Samples = func(yield func(int, drifttest.Sample) bool) {
		rng := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same every time
		for at := time.Duration(0); at < s.Duration; at += s.Interval {
			noise := 1.1
			if at >= 60*hour {
				noise = 1.43
			}
			for i := range s.Drives {
				p50 := 80e-6 * noise * math.Exp(0.02*rng.NormFloat64())
				out := drifttest.Sample{Time: drifttest.Start().Add(at), Values: drift.Values{p50, 1.3 * p50, 2 * p50, 1 / p50}, HostNoise: noise}
				if !yield(i, out) {
					return
				}
			}
		}
	}
	judged, err := verdicts.Judge(s, drift.Default())
	require.NoError(t, err)
	require.NotEmpty(t, judged.Findings)
	for _, f := range judged.Findings {
		require.Equal(t, drifttest.OfHost, f.Scope)
		assert.Greater(t, f.HostNoise, 1.1)
		assert.LessOrEqual(t, f.HostNoise, 1.3+1e-9)
	}
}
