package drifttest

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// machine is a drive at work, in a closed loop: others demand work, the work takes time, and the drive gets busier
// and slower by it. Rounds are refused while it is too busy.
type machine struct {
	rng   random
	noise string

	latency      float64 // of a small read on the idle drive, in seconds
	spread, tail float64 // noise of the median, and p99 over p50
	queue        float64 // how much slower a fully busy drive is: 0.4 is 40 %
	obeys        float64 // exponent of the host's effect on it

	work work

	slowly, tails, long float64 // autoregressive parts of the noise
	collecting          int     // rounds for which the drive still collects garbage
	probed              time.Duration
	moments             [2]moment // the last two, the newer one first
}

// moment is what a round on a machine meets from a time on: the latency of a read in seconds, the logarithms of what noise
// that lasts longer adds to it and to its tail, how busy the drive is, and how many times slower its tail is.
type moment struct {
	at                   time.Duration
	latency, level, tail float64
	busy, tailK          float64
}

// work is what others demand of a drive.
type work struct {
	demand      float64 // mean I/Os a second
	wave, phase float64 // of the daily wave
	jitter      float64
	reads       float64 // share of the I/Os, 0 to 1
	bytes       float64 // size of an I/O
	burst       float64 // autoregressive part
}

// machineNoises lists what drives do by themselves all the time.
func machineNoises() []string {
	return []string{"quiet", "quiet", "quiet", "correlated", "heavy", "collecting", "bursty", "wide", "coarse"}
}

const (
	// refusedAbove is the utilisation by others above which a round is refused.
	refusedAbove = 0.8
	// loadedEvery is how often a small round runs although the drive is too busy.
	loadedEvery = 15 * time.Minute
	// parallel is how many small I/Os a drive carries out at the same time.
	parallel = 8
	// bandwidth is that of a drive, in bytes a second.
	bandwidth = 3e9
)

// want returns the demand at a time, in I/Os a second.
func (w *work) want(rng random, at time.Duration) float64 {
	w.burst = 0.9*w.burst + w.jitter*0.44*rng.NormFloat64()
	day := at.Hours()/24 + w.phase
	weekly := 1.0
	if int(day)%7 >= 5 {
		weekly = 0.7
	}
	return w.demand * weekly * (1 + w.wave*math.Sin(2*math.Pi*day)) * math.Exp(w.burst)
}

// takes returns how many seconds an I/O of others keeps an idle drive busy.
func (m *machine) takes() float64 {
	return m.latency/parallel + m.work.bytes/bandwidth
}

// next makes a sample. k is how many times slower the drive itself is, tailK its tail beyond that, and host how many
// times slower the host makes its drives.
func (m *machine) next(at time.Duration, k, tailK, host float64) Sample {
	rng := m.rng
	wanted, healthy := m.work.want(rng, at), math.Pow(host, m.obeys)
	own := k
	k *= healthy
	served, u, busy := m.serves(wanted, k)
	_, _, usual := m.serves(wanted, healthy)

	m.slowly = 0.7*m.slowly + 0.714*m.spread*rng.NormFloat64()
	m.tails = 0.3*m.tails + 0.17*rng.NormFloat64()
	now := moment{at: at, latency: m.latency * k * busy, level: m.slowly, tail: m.tails, busy: u, tailK: tailK}
	middle := 0.03 * rng.NormFloat64()
	switch m.noise {
	case "correlated":
		m.long = 0.97*m.long + 0.03*0.243*rng.NormFloat64()
		now.level, now.tail = now.level+m.long, now.tail+4*m.long
	case "collecting": // more often when more is written
		if m.collecting == 0 && rng.chance(1.0/200+served*(1-m.work.reads)*m.work.bytes/20e9) {
			m.collecting = 3 + rng.IntN(11)
		}
		if m.collecting > 0 {
			m.collecting--
			now.level, now.tail = now.level+0.35, now.tail+math.Ln2
		}
	}
	m.moments = [2]moment{now, m.moments[0]} // before what is of this round alone
	middle, burst := m.vary(rng, &now, middle)
	out := Sample{Time: Start().Add(at), Utilisation: u, Felt: own * busy / usual}
	out.Others = m.others(served, k*busy*math.Exp(now.level), tailK)
	if u > refusedAbove && at-m.probed < loadedEvery {
		return out
	}
	if u > refusedAbove { // a small round tells less
		out.Loaded = true
		burst *= rng.around(0.03)
		now.tail += 0.2 * rng.NormFloat64()
	}
	m.probed = at
	out.Values = m.round(now, middle, burst)
	return out
}

// serves returns how much of the wanted work the drive does when it is k times slower, in I/Os a second; the utilisation that
// results; and how many times longer an I/O takes than on the idle drive.
func (m *machine) serves(wanted, k float64) (served, u, busy float64) {
	takes := m.takes() * k
	served = min(wanted, 0.98/takes*3)
	u = 1 - math.Exp(-served*takes)
	if served < 1 {
		served, u = 0, 0
	}
	return served, u, (1 + m.queue*u) / (1 - 0.35*u*u)
}

// again makes a round out of turn at a time within the last two moments; false if it is refused.
func (m *machine) again(rng random, at time.Duration) (drift.Values, bool) {
	now := m.moments[0]
	if at < now.at {
		now = m.moments[1]
	}
	if now.latency == 0 || now.busy > refusedAbove {
		return drift.Values{}, false
	}
	now.level += 0.7 * m.spread * rng.NormFloat64()
	middle, burst := m.vary(rng, &now, 0.03*rng.NormFloat64())
	return m.round(now, middle, burst), true
}

// vary adds the noise of a single round. It returns that of p95, and how many times slower the round is by a burst.
func (m *machine) vary(rng random, now *moment, middle float64) (p95, burst float64) {
	burst = 1
	switch m.noise {
	case "heavy":
		t := func() float64 { return max(-8, min(8, rng.NormFloat64()/math.Sqrt(rng.ExpFloat64()))) }
		now.level, middle, now.tail = now.level+0.02*t(), 0.05*t(), 0.15*t()
	case "wide":
		now.tail, middle = 0.5*rng.NormFloat64(), 0.12*rng.NormFloat64()
	case "bursty":
		if rng.chance(0.004) {
			now.tail, middle = now.tail+2.5*rng.Float64(), middle+1.5*rng.Float64()
			if rng.chance(0.3) {
				burst = 2 + 8*rng.Float64()
			}
		}
	}
	return middle, burst
}

// round returns the statistics of a round.
func (m *machine) round(now moment, middle, burst float64) drift.Values {
	own := now.latency * math.Exp(now.level) * burst
	p95 := max(own, own*(1.25+0.3*now.busy)*math.Exp(middle))
	p99 := max(p95, own*(m.tail+now.busy)*math.Exp(now.tail)*now.tailK)
	mean := own*(1.03+0.01*m.tail) + 0.01*(p99-p99/now.tailK)
	if m.noise == "coarse" {
		const step = 2e-6
		own, p95, p99 = step*math.Round(own/step), step*math.Round(p95/step), step*math.Round(p99/step)
	}
	return drift.Values{own, p95, p99, 1 / mean}
}

// others returns the traffic that was served.
func (m *machine) others(served, k, tailK float64) Others {
	rng, w := m.rng, m.work
	o := Others{
		Known: true, Reads: served * w.reads, Writes: served * (1 - w.reads),
		ReadBytes: served * w.reads * w.bytes, WriteBytes: served * (1 - w.reads) * w.bytes,
	}
	// A mean of many I/Os varies less than a mean of few.
	few := 0.25 / math.Sqrt(max(1, served*60))
	sigma := math.Sqrt(0.02*0.02 + few*few)
	one := (m.latency + w.bytes/bandwidth*2) * k * (1 + 0.01*m.tail*(tailK-1))
	if o.Reads > 0.1 {
		o.ReadLatency = one * rng.around(sigma)
	}
	if o.Writes > 0.1 {
		o.WriteLatency = 0.4 * one * rng.around(1.5*sigma)
		o.FlushLatency = 2 * one * rng.around(2*sigma)
	}
	o.InFlight = o.Reads*o.ReadLatency + o.Writes*o.WriteLatency
	return o
}
