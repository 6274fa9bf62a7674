package verdicts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// Year is a device-year or a node-year.
	Year = time.Duration(365.25 * 24 * float64(time.Hour))
	// sameBlame is the time within which a repeated finding is the same one.
	sameBlame = 6 * time.Hour
	// afterEnd is how long a verdict is still right after what it names is over.
	afterEnd = time.Hour
	// noteworthy is the smallest slowdown of a host, as a ratio, that may be a finding.
	noteworthy = 1.08
	// pagedWithin is how soon a lasting slowdown of 2 × must be a page.
	pagedWithin = 15 * time.Minute
	// blamable is the slowdown of a drive from which on it counts as found when the drive is blamed. Of a smaller one, or one
	// that varies, a statistic that has regressed is all that may be told.
	blamable = 1.3
	// notSevere is the slowdown below which a drive is not severe, of the drive itself and of what its users feel.
	notSevere = 1.5
	// recently is how long before a verdict a change may have to do with it.
	recently = 24 * time.Hour
	// judgedTogether is how many drives are needed to tell the host from a drive.
	judgedTogether = 2
)

// Score counts what is right and what is wrong.
type Score struct {
	// Drives and Nodes are the years (as numbers, because a Duration ends at 292) in which nothing made drives or
	// nodes slow. Alone is the part of Drives on nodes of one.
	Drives, Alone, Nodes float64
	// Quiet is Drives and Nodes by the noise of the host.
	Quiet map[string]Quiet
	// Wrong are the false verdicts.
	Wrong []Wrong
	// Found is what became of each kind of episode, by kind and noise.
	Found map[Kind]*Found
	// Lasting counts drives that were 2 × slower or worse for an hour or longer. LastingBlamed counts those of them
	// that were blamed within a quarter of an hour, and LastingSevere those that were severe by then.
	Lasting, LastingBlamed, LastingSevere int
	// Shown is for how many years drives had each verdict, and SlowShown for how many of those they were lasting slow.
	Shown, SlowShown map[record.DriveVerdict]float64
	// Stood is how long the verdict stood for each lasting drive that was severe in time.
	Stood []time.Duration
	// LongestStood is how long the verdict stood at the longest for each drive that was slower for a day or longer and was blamed.
	LongestStood []time.Duration
	// Late are the lasting drives that were not severe within a quarter of an hour.
	Late []Late
}

// Quiet are the years in which nothing made drives or nodes slow.
type Quiet struct{ Drives, Nodes float64 }

// quiet adds years in which nothing made drives or nodes slow.
func (s *Score) quiet(noise string, q Quiet) {
	all := s.Quiet[noise]
	s.Quiet[noise] = Quiet{all.Drives + q.Drives, all.Nodes + q.Nodes}
	s.Drives, s.Nodes = s.Drives+q.Drives, s.Nodes+q.Nodes
}

// Late is an episode that was found late, or never.
type Late struct {
	Scenario, Drive string
	drifttest.Episode
	// Blamed and Severe are how long it took until the drive was blamed and was severe; negative for never.
	Blamed, Severe time.Duration
}

// Kind is a kind of episode under a kind of noise.
type Kind struct{ Kind, Noise string }

// Wrong is a false verdict.
type Wrong struct {
	Finding
	Scenario string
	// Why says what is wrong with it.
	Why Reason
	// Noise is the noise of the drive, and HostNoise that of its host.
	Noise, HostNoise string
	// After is what changed on the drive or node in the day before; empty when nothing did.
	After string
}

// Reason says what is wrong with a verdict.
type Reason string

// The reasons.
const (
	Nothing    Reason = "nothing happened"
	HostDidIt  Reason = "the host did it"
	Over       Reason = "it was over"
	Overstated Reason = "severe, though it is not twice as slow"
	NoHost     Reason = "the host did nothing"
	HostNoisy  Reason = "the noise of the host was that slow"
	Again      Reason = "told once more"
	// FeltMore is overstated for the drive, but not for its users: the slower drive is also busier, so that their I/O waits
	// longer.
	FeltMore Reason = "severe only for its users, as the drive is also busier"
)

// Found is what became of the episodes of a kind.
type Found struct {
	Episodes int
	// Delays are the delays of the episodes that were found.
	Delays []time.Duration
	// Batches is how many were reported as a batch.
	Batches int
	Missed  []string // scenarios
}

func years(d time.Duration) float64 { return float64(d) / float64(Year) }

// shown adds for how long a drive had each verdict, and for how long of that it was lasting slow.
func (s *Score) shown(of drifttest.Scenario, d drifttest.Drive, shown []Shown) {
	for _, v := range shown {
		if v.Drive != d.ID {
			continue
		}
		during := func(from, to time.Duration) float64 {
			return years(max(0, min(v.To, d.To, to)-max(v.From, d.From, from)))
		}
		s.Shown[v.Verdict] += during(0, of.Duration)
		for _, e := range d.Episodes {
			if e.Lasting(of.Duration) {
				s.SlowShown[v.Verdict] += during(e.Onset, e.End)
			}
		}
	}
}

// share returns the share of some time, in percent, with a verdict.
func share(shown map[record.DriveVerdict]float64, v record.DriveVerdict) float64 {
	all := 0.0
	for _, years := range shown {
		all += years
	}
	return 100 * shown[v] / max(1e-9, all)
}

func (s *Score) prepare() {
	if s.Found == nil {
		s.Found, s.Quiet = map[Kind]*Found{}, map[string]Quiet{}
		s.Shown, s.SlowShown = map[record.DriveVerdict]float64{}, map[record.DriveVerdict]float64{}
	}
}

// Add compares what was made of a scenario with what happened in it.
func (s *Score) Add(name string, of drifttest.Scenario, j Judged) {
	s.prepare()
	for i, d := range of.Drives {
		s.drive(name, of, i, j.Findings)
		s.shown(of, d, j.Shown)
	}
	s.host(name, of, j.Findings)
}

func (s *Score) drive(name string, of drifttest.Scenario, i int, findings []Finding) {
	d := of.Drives[i]
	alone := of.Together() < judgedTogether
	excused := slices.Clone(d.Episodes)
	for _, e := range of.Host {
		if of.Present(max(0, e.Onset)) < judgedTogether && e.Slower >= noteworthy {
			excused = append(excused, e) // nobody can tell the host from its only drive
		}
	}
	quiet := quietTime(d.From, min(d.To, of.Duration), excused)
	s.quiet(of.Noise, Quiet{Drives: years(quiet)})
	if alone {
		s.Alone += years(quiet)
	}
	mine := blames(findings, d.ID)
	told := map[Severity]time.Duration{}
	for _, f := range mine {
		wrong := reason(of, excused, f)
		if wrong == "" {
			continue
		}
		if last, ok := told[f.Severity]; !ok || f.At-last >= sameBlame {
			s.Wrong = append(s.Wrong, Wrong{Finding: f, Scenario: name, Why: wrong, Noise: d.Noise, HostNoise: of.Noise, After: of.Before(i, f.At, recently)})
		}
		told[f.Severity] = f.At
	}
	for _, e := range d.Episodes {
		about := mine
		if ofAll(of, e) {
			about = slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Scope != drifttest.OfHost && f.Drive != d.ID })
		}
		s.episode(name, of, e, about)
		if e.Lasting(of.Duration) {
			s.lasting(name, d.ID, e, mine)
		}
		if longest := longestStood(e, mine); longest > 0 && min(e.End, of.Duration)-e.Onset >= 24*time.Hour {
			s.LongestStood = append(s.LongestStood, longest)
		}
	}
}

// ofAll reports whether an episode is of a batch that is all drives of the node at that time. Nobody can tell it from the host.
func ofAll(of drifttest.Scenario, e drifttest.Episode) bool {
	return e.Scope == drifttest.OfBatch && !slices.ContainsFunc(of.Drives, func(d drifttest.Drive) bool {
		has := slices.ContainsFunc(d.Episodes, func(x drifttest.Episode) bool { return x.Scope == e.Scope && x.Onset == e.Onset })
		return d.From <= e.Onset && e.Onset < d.To && !has
	})
}

// lasting notes how soon a drive was blamed that became at least twice as slow for an hour or longer.
func (s *Score) lasting(name, drive string, e drifttest.Episode, findings []Finding) {
	var stood time.Duration
	after := func(severe bool) time.Duration {
		for _, f := range findings {
			if f.At >= e.Onset && f.At <= e.End && (f.Severity == Severe || !severe && f.Severity == Degraded) {
				stood = f.Stood
				return f.At - e.Onset
			}
		}
		return -1
	}
	soon := func(d time.Duration) bool { return d >= 0 && d <= pagedWithin }
	blamed, severe := after(false), after(true)
	s.Lasting++
	if soon(blamed) {
		s.LastingBlamed++
	}
	if soon(severe) {
		s.LastingSevere++
		s.Stood = append(s.Stood, stood)
		return
	}
	s.Late = append(s.Late, Late{name, drive, e, blamed, severe})
}

// longestStood returns how long a verdict that was made during an episode stood at the longest.
func longestStood(e drifttest.Episode, findings []Finding) (longest time.Duration) {
	for _, f := range findings {
		if f.At >= e.Onset && f.At <= e.End {
			longest = max(longest, f.Stood)
		}
	}
	return longest
}

// blames returns the findings about a drive.
func blames(findings []Finding, drive string) []Finding {
	var mine []Finding
	for _, f := range findings {
		if f.Scope != drifttest.OfHost && f.Drive == drive {
			mine = append(mine, f)
		}
	}
	return mine
}

// reason returns what is wrong with a finding about a drive; empty when it is right.
func reason(of drifttest.Scenario, excused []drifttest.Episode, f Finding) Reason {
	wrong := Nothing
	for _, e := range of.Host {
		if e.Slower >= noteworthy && during(e, f.At) {
			wrong = HostDidIt
		}
	}
	slower, happening := 1.0, false // slowdowns at the same time multiply
	for _, e := range excused {
		switch {
		case during(e, f.At):
			slower, happening = slower*e.SlowerAt(min(f.At, e.End)), true
		case f.At > e.End && !happening:
			wrong = Over
		}
	}
	switch {
	case happening && f.Severity == Severe && slower > 1 && slower < notSevere:
		if f.Felt >= notSevere {
			return FeltMore
		}
		return Overstated
	case happening:
		return ""
	}
	return wrong
}

func during(e drifttest.Episode, at time.Duration) bool {
	return at >= e.Onset && at <= e.End+afterEnd
}

// quietTime returns how much of a period lies in no episode.
func quietTime(from, to time.Duration, episodes []drifttest.Episode) time.Duration {
	sorted := slices.SortedFunc(slices.Values(episodes), func(a, b drifttest.Episode) int { return cmp.Compare(a.Onset, b.Onset) })
	var quiet time.Duration
	for _, e := range sorted {
		quiet += max(0, min(e.Onset, to)-from)
		from = max(from, e.End+afterEnd)
	}
	return quiet + max(0, to-from)
}

// episode notes whether and when something was found.
func (s *Score) episode(name string, of drifttest.Scenario, e drifttest.Episode, findings []Finding) {
	f := s.Found[Kind{e.Kind, of.Noise}]
	if f == nil {
		f = &Found{}
		s.Found[Kind{e.Kind, of.Noise}] = f
	}
	f.Episodes++
	within := func(x Finding) bool {
		return x.At >= e.Onset && x.At <= e.End && (x.Severity != Regressed || e.Scope == drifttest.OfHost || e.Slower < blamable)
	}
	first := slices.IndexFunc(findings, within)
	if first < 0 {
		f.Missed = append(f.Missed, name)
		return
	}
	f.Delays = append(f.Delays, findings[first].At-e.Onset)
	if slices.ContainsFunc(findings, func(x Finding) bool { return within(x) && x.Scope == drifttest.OfBatch }) {
		f.Batches++
	}
}

func (s *Score) host(name string, of drifttest.Scenario, findings []Finding) {
	if of.Together() < judgedTogether {
		return
	}
	var happened []drifttest.Episode
	for _, e := range of.Host {
		if e.Slower >= noteworthy {
			happened = append(happened, e)
		}
	}
	excused := slices.Clone(happened)
	for _, d := range of.Drives {
		for _, e := range d.Episodes {
			if ofAll(of, e) {
				excused = append(excused, e)
			}
		}
	}
	s.quiet(of.Noise, Quiet{Nodes: years(quietTime(0, of.Duration, excused))})
	var told []Finding
	for _, f := range findings {
		if f.Scope == drifttest.OfHost {
			told = append(told, f)
		}
	}
	last, backups := -sameBlame, 0
	for _, f := range told {
		if slices.ContainsFunc(excused, func(e drifttest.Episode) bool { return during(e, f.At) }) {
			continue
		}
		if f.At-last >= sameBlame {
			why := NoHost
			if f.HostNoise >= noteworthy {
				why = HostNoisy
			}
			if slices.Contains(of.Noises, "backup") { // what recurs may be reported once
				if why = Again; backups == 0 {
					why = ""
				}
				backups++
			}
			if why != "" {
				s.Wrong = append(s.Wrong, Wrong{Finding: f, Scenario: name, Why: why, HostNoise: of.Noise, After: of.Before(-1, f.At, recently)})
			}
		}
		last = f.At
	}
	for _, e := range happened {
		s.episode(name, of, e, told)
	}
}

// Merge adds the counts of another score.
func (s *Score) Merge(o Score) {
	s.Alone += o.Alone
	s.Wrong = append(s.Wrong, o.Wrong...)
	s.Lasting, s.LastingBlamed, s.LastingSevere = s.Lasting+o.Lasting, s.LastingBlamed+o.LastingBlamed, s.LastingSevere+o.LastingSevere
	s.Late, s.Stood, s.LongestStood = append(s.Late, o.Late...), append(s.Stood, o.Stood...), append(s.LongestStood, o.LongestStood...)
	s.prepare()
	for v, years := range o.Shown {
		s.Shown[v], s.SlowShown[v] = s.Shown[v]+years, s.SlowShown[v]+o.SlowShown[v]
	}
	for noise, q := range o.Quiet {
		s.quiet(noise, q)
	}
	for k, f := range o.Found {
		if s.Found[k] == nil {
			s.Found[k] = &Found{}
		}
		mine := s.Found[k]
		mine.Episodes += f.Episodes
		mine.Batches += f.Batches
		mine.Delays = append(mine.Delays, f.Delays...)
		mine.Missed = append(mine.Missed, f.Missed...)
	}
}

// blamed counts false verdicts about drives with some severities. The same drive twice within six hours counts once.
func (s *Score) blamed(severities ...Severity) int {
	last := map[string]time.Duration{}
	n := 0
	for _, w := range s.Wrong {
		if w.Scope == drifttest.OfHost || !slices.Contains(severities, w.Severity) {
			continue
		}
		who := w.Scenario + "/" + w.Drive
		if at, ok := last[who]; !ok || w.At-at >= sameBlame {
			n++
			last[who] = w.At
		}
	}
	return n
}

// Count returns how many false verdicts match.
func (s *Score) Count(match func(Wrong) bool) int {
	n := 0
	for _, w := range s.Wrong {
		if match(w) {
			n++
		}
	}
	return n
}

// Of returns what became of the episodes of some kinds together, whatever the noise.
func (s *Score) Of(kinds ...string) Found {
	var all Found
	for k, f := range s.Found {
		if slices.Contains(kinds, k.Kind) {
			all.Episodes += f.Episodes
			all.Batches += f.Batches
			all.Delays = append(all.Delays, f.Delays...)
			all.Missed = append(all.Missed, f.Missed...)
		}
	}
	slices.Sort(all.Delays)
	slices.Sort(all.Missed)
	return all
}

// Quantile returns a quantile of the delays of all episodes. Episodes that were never found count as later than all
// others, so it is negative when too few were found.
func (f Found) Quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(f.Delays))
	at := int(q * float64(f.Episodes))
	if at >= len(sorted) {
		return -1
	}
	return sorted[at]
}

// String says how many were found, the median delay and the longest.
func (f Found) String() string {
	return fmt.Sprintf("%d of %d, median %s, worst %s", len(f.Delays), f.Episodes, Minutes(f.Quantile(0.5)), Minutes(f.Quantile(1-1/max(1, float64(f.Episodes)))))
}

// Minutes formats a delay; a negative one means never.
func Minutes(d time.Duration) string {
	switch {
	case d < 0:
		return "never"
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= 3*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f min", d.Minutes())
}
