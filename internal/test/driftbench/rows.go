package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

// row is a line of the table of what has to hold.
type row struct {
	what, wanted, seen string
	reached            bool
}

// judged is a score of scenarios of one kind.
type judged struct {
	verdicts.Score
	scores map[string]verdicts.Score // by the name of a scenario
}

// judgeAll judges scenarios, one on each CPU at a time.
func judgeAll(scenarios map[string]drifttest.Scenario, settings drift.Settings) (judged, error) {
	all := judged{scores: map[string]verdicts.Score{}}
	var mu sync.Mutex
	var failed error
	names := make(chan string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for name := range names {
				one, err := verdicts.Judge(scenarios[name], settings)
				var s verdicts.Score
				s.Add(name, scenarios[name], one)
				mu.Lock()
				failed = cmp.Or(failed, err)
				all.Merge(s)
				all.scores[name] = s
				mu.Unlock()
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		names <- name
	}
	close(names)
	workers.Wait()
	return all, failed
}

// reacting checks that a drive is never less likely to be found when it is worse.
func reacting(o options) ([]row, error) {
	scenarios := map[string]drifttest.Scenario{}
	for _, u := range []float64{0, 0.01, 0.05, 0.10, 0.30, 0.60, 0.90} {
		for _, wave := range []float64{0.1, 0.6} {
			for _, slower := range []float64{1, 1.3, 2, 4, 10} {
				r := drifttest.Reacting{Utilisation: u, Wave: wave, Slower: slower, Seed: o.seed, Days: 6}
				scenarios[fmt.Sprintf("%2.0f %% ±%2.0f %%, %g ×", 100*u, 100*wave, slower)] = r.Scenario()
			}
		}
	}
	s, err := judgeAll(scenarios, o.settings)
	return []row{
		within("reacting: 2 × and more, every one", s, 10*time.Minute, "x2", "x4", "x10"),
		within("reacting: 1.3 ×, every one", s, 45*time.Minute, "x1.3"),
		none("reacting: false alarms", s.Wrong),
	}, err
}

// within wants all episodes of some kinds to be found within a limit.
func within(what string, s judged, limit time.Duration, kinds ...string) row {
	f := s.Of(kinds...)
	seen := f.String()
	if len(f.Missed) > 0 {
		seen += fmt.Sprintf("; not %v", f.Missed[:min(3, len(f.Missed))])
	}
	late := map[string]int{}
	for k, found := range s.Found {
		for _, d := range found.Delays {
			if slices.Contains(kinds, k.Kind) && d > limit {
				late[k.Noise]++
			}
		}
	}
	if len(late) > 0 {
		seen += fmt.Sprintf("; late %v", late)
	}
	return row{what, "all within " + verdicts.Minutes(limit), seen, len(f.Missed) == 0 && len(late) == 0}
}

// median wants the median delay to be below a limit for every kind of noise.
func median(what string, s judged, kind string, limit time.Duration) row {
	worst, family, seen := time.Duration(-1), "", ""
	for k, f := range s.Found {
		if k.Kind != kind {
			continue
		}
		m := f.Quantile(0.5)
		if m < 0 {
			m = math.MaxInt64
		}
		if m > worst || m == worst && k.Noise < family {
			worst, family, seen = m, k.Noise, fmt.Sprintf("worst family: %s %s", k.Noise, verdicts.Minutes(f.Quantile(0.5)))
		}
	}
	return row{what, "median within " + verdicts.Minutes(limit), fmt.Sprintf("%s; %s", s.Of(kind), seen), worst <= limit}
}

func none(what string, wrong []verdicts.Wrong) row {
	r := row{what, "none", "none", len(wrong) == 0}
	if len(wrong) > 0 {
		w := wrong[0]
		r.seen = fmt.Sprintf("%d, the first: %s of %s after %s, by %s %s (%s)", len(wrong), w.Drive, w.Scenario, verdicts.Minutes(w.At), w.Source, w.Statistic, w.Why)
	}
	return r
}

func rate(what string, r verdicts.Rate, most float64) row {
	return row{what, fmt.Sprintf("at most %g a year", most), r.String(), r.PerYear() <= most}
}

// nodes checks drives that share what their host does.
func nodes(o options) ([]row, error) {
	scenarios := map[string]drifttest.Scenario{}
	for n := range o.streams {
		for _, kind := range drifttest.NodeKinds() {
			for _, noise := range drifttest.SharedNoises() {
				node := drifttest.Node{Kind: kind, Noise: noise, Seed: o.seed + uint64(n)<<32, Days: 7}
				scenarios[fmt.Sprintf("%s-%s-%d", kind, noise, n)] = node.Scenario()
			}
		}
	}
	s, err := judgeAll(scenarios, o.settings)
	told := func(kind string) row {
		f := s.Of(kind)
		return row{"nodes: " + kind + " is told as a batch", "every drive", fmt.Sprintf("%d of %d", f.Batches, f.Episodes), f.Batches == f.Episodes}
	}
	rows := []row{
		rate("nodes: drives blamed falsely", s.FalseDrives(), 0.05),
		rate("nodes: hosts blamed falsely", s.FalseHosts(), 0.05),
		median("nodes: +20 %", s, "step20", 30*time.Minute),
		median("nodes: +10 %", s, "step10", time.Hour),
		within("nodes: 2 ×", s, 10*time.Minute, "double"),
		within("nodes: p99 × 2", s, 2*time.Hour, "tail"),
		within("nodes: each tenth round 5 ×", s, 3*time.Hour, "intermittent"),
		within("nodes: host +20 %, one finding", s, 30*time.Minute, "host20"),
		within("nodes: a third +30 %", s, 30*time.Minute, "batch30"), told("batch30"),
		within("nodes: 7 of 12 +30 %", s, 30*time.Minute, "most30"), told("most30"),
		within("nodes: +20 % a day after the host", s, time.Hour, "after host"),
		within("nodes: born 1.4 ×", s, 24*time.Hour, "born40"),
	}
	return append(rows, o.listed("nodes", s.Wrong)...), err
}

// listed returns a row for each false verdict, if that is asked for.
func (o options) listed(part string, wrong []verdicts.Wrong) []row {
	var rows []row
	if !o.wrong {
		return nil
	}
	for _, w := range wrong {
		rows = append(rows, row{part + ": false verdict", w.Scenario, fmt.Sprintf(
			"after %.2f days: %s %s %.2f by %s %s (%s)", w.At.Hours()/24, w.Scope, w.Drive, w.Ratio, w.Source, w.Statistic, w.Why), false})
	}
	return rows
}

// writeRows writes the table.
func writeRows(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\twanted\tseen\t")
	for _, r := range rows {
		verdict := "reached"
		if !r.reached {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, r.wanted, r.seen, verdict)
	}
	return w.Flush()
}
