package drift

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Explanation is everything behind the current states, for people.
type Explanation struct {
	Conditions record.Conditions `json:"conditions"`
	Maturity   record.Maturity   `json:"maturity,omitempty"` // empty while there is no baseline
	// Blocks and Rounds count what the baseline was learned from.
	Blocks int `json:"blocks"`
	Rounds int `json:"rounds"`
	// MinLoad and MaxLoad bound the load, as a utilisation (0 to 1), that the baseline knows.
	MinLoad        float64 `json:"min_load"`
	MaxLoad        float64 `json:"max_load"`
	UnjudgedBlocks int     `json:"unjudged_blocks"`
	// Work is what others ask of the device now; nil while that is not known.
	Work       *WorkExplained         `json:"work,omitempty"`
	Statistics []StatisticExplanation `json:"statistics"`
	// Recent are the last blocks, at most 36 of them, the last one last. BlockLength is how long a block takes now: from five
	// minutes to an hour, as rounds may be rare.
	Recent      []Block        `json:"recent"`
	BlockLength time.Duration  `json:"block_length_ns"`
	Effect      *record.Effect `json:"effect,omitempty"`
	// Earlier and Lifetime are as in record.ProbeStatus.
	Earlier  []record.Effect                      `json:"earlier_effects,omitempty"`
	Lifetime map[record.Statistic]record.Lifetime `json:"lifetime,omitempty"`
	Notes    []Note                               `json:"notes,omitempty"`
}

// StatisticExplanation is what is behind the state of one statistic.
type StatisticExplanation struct {
	record.Drift
	// NoiseLower and NoiseUpper bound 95 % of the baseline's blocks, as times slower
	// than the baseline at their load.
	NoiseLower float64 `json:"noise_lower,omitempty"`
	NoiseUpper float64 `json:"noise_upper,omitempty"`
	// Autocorrelation is the factor by which more evidence is needed because blocks resemble the ones before them.
	Autocorrelation float64 `json:"autocorrelation_factor,omitempty"`
	// Load is the load curve: how many times slower than without load from others the statistic is at some
	// utilisations.
	Load []LoadEffect `json:"load,omitempty"`
	// SlowAbove is the ratio above which a round is slow, and SlowShare the share (0 to 1) of blocks that may have
	// such a round.
	SlowAbove float64 `json:"slow_above,omitempty"`
	SlowShare float64 `json:"slow_share,omitempty"`
	// FarAbove is the ratio above which nearly all rounds of five minutes raise an alarm without waiting for whole blocks.
	FarAbove float64 `json:"far_above,omitempty"`
	// Expected lists when slowdowns recur. They are no news at these times.
	Expected []Expected `json:"expected,omitempty"`
	// Others is how many times slower than usual the other drives of the host were in the last block, and Host is the
	// ratio that was taken off this drive for it. Both are 0 when there are too few others.
	Others   float64    `json:"others,omitempty"`
	Host     float64    `json:"host,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// LoadEffect is a point of the load curve.
type LoadEffect struct {
	Utilisation float64 `json:"utilisation"`
	Ratio       float64 `json:"ratio"`
}

// Evidence is a CUSUM against the threshold at which it alarms.
type Evidence struct {
	// For is what it would be evidence for: ForSlower, ForFaster or ForSlowRounds.
	For string `json:"for"`
	// Ratio is the size of shift that this CUSUM is quickest to find; 0 for slow rounds.
	Ratio     float64   `json:"ratio,omitempty"`
	Value     float64   `json:"value"`
	Threshold float64   `json:"threshold"`
	Since     time.Time `json:"since,omitzero"`
}

// What a CUSUM may be evidence for.
const (
	ForSlower     = "slower"
	ForFaster     = "faster"
	ForSlowRounds = "slow rounds"
)

// Block is a judged block: how many times slower than the baseline under the
// same load, and whether it had a slow round, per statistic in their order.
type Block struct {
	Time   time.Time        `json:"time"`
	Ratios Values           `json:"ratios"`
	Slow   [statistics]bool `json:"slow"`
}

func (j judged) block() Block {
	b := Block{Time: slotTime(j.Slot), Slow: j.Slow}
	for i, s := range j.Shifts {
		b.Ratios[i] = s.Ratio()
	}
	return b
}

// LastBlock returns the block that was judged last, if there is one.
func (t *Tracker) LastBlock() (Block, bool) {
	if len(t.recent) == 0 {
		return Block{}, false
	}
	return t.recent[len(t.recent)-1].block(), true
}

// Explain returns why the states are what they are at a time.
func (t *Tracker) Explain(now time.Time) Explanation {
	out := Explanation{BlockLength: time.Duration(t.Slots()) * blockLength}
	for _, d := range t.DriftAt(now) {
		out.Statistics = append(out.Statistics, StatisticExplanation{Drift: d})
	}
	for _, j := range t.recent {
		out.Recent = append(out.Recent, j.block())
	}
	if len(t.epochs) == 0 {
		return out
	}
	e := t.current()
	out.Conditions, out.Rounds, out.UnjudgedBlocks, out.Notes = e.Conditions, e.rounds(), e.Unjudged, e.Notes
	out.Effect, out.Earlier, out.Lifetime = e.Effect, e.Earlier, e.lifetime()
	if !e.learned() {
		return out
	}
	b := e.Baseline
	out.Maturity, out.Blocks = b.Maturity, b.Blocks
	out.MinLoad, out.MaxLoad = float64(b.MinLoad)/1000, float64(b.MaxLoad)/1000
	out.Work = t.explainWork()
	for i := range out.Statistics {
		n := &b.Of[i]
		if n.learned() {
			out.Statistics[i].FarAbove = n.LargeAbove.Ratio()
		}
		if n.knowsNoise() {
			t.explain(i, n, now, &out.Statistics[i])
		}
	}
	return out
}

func (t *Tracker) explain(i int, n *norm, now time.Time, out *StatisticExplanation) {
	out.NoiseLower, out.NoiseUpper = quantile(n.Residuals, 0.025).Ratio(), quantile(n.Residuals, 0.975).Ratio()
	out.Autocorrelation, out.SlowAbove, out.SlowShare = n.Autocorrelation, n.SlowAbove.Ratio(), n.SlowShare
	for _, k := range n.Curve {
		out.Load = append(out.Load, LoadEffect{float64(k.Load) / 1000, (k.Shift - n.Curve.at(0)).Ratio()})
	}
	expected := n.recurring
	if t.isTail(i) { // what slows the median also slows the tail
		expected = either(expected, t.current().Baseline.Of[0].recurring)
	}
	out.Expected = expected.times(now)
	if last := len(t.recent); last > 0 {
		b := t.recent[last-1]
		if others := t.host.At(b.Slot)[i]; others.Known() && b.Alone[i].Known() {
			out.Others, out.Host = others.Ratio(), t.hostPart(i, b.Slot, others, b.Alone[i]).Ratio()
		}
	}
	v := &t.verdicts[i]
	for k, p := range t.plans[i] {
		size := (2 * p.reference).Ratio()
		out.Evidence = append(out.Evidence,
			Evidence{ForSlower, size, v.Slower[k].Value, p.slower, v.Slower[k].time()},
			Evidence{ForFaster, size, v.Faster[k].Value, p.faster, v.Faster[k].time()})
	}
	out.Evidence = append(out.Evidence, Evidence{For: ForSlowRounds, Value: v.Slow.Value, Threshold: t.slowThreshold(i), Since: v.Slow.time()})
}
