package drift

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Work is what others asked of a device, per second. It is the covariate of the load curve. Utilisation would not do:
// a slower device is busier with the same work, so its utilisation would explain the slowdown away.
type Work struct {
	// Known is false where the work was not counted.
	Known        bool    `json:"known,omitempty"`
	Reads        float64 `json:"reads,omitempty"`
	Writes       float64 `json:"writes,omitempty"`
	ReadBytes    float64 `json:"read_bytes,omitempty"`
	WrittenBytes float64 `json:"written_bytes,omitempty"`
}

// WorkOf returns work that was counted; not known for nil.
func WorkOf(w *record.Work) Work {
	if w == nil {
		return Work{}
	}
	return Work{Known: true, Reads: w.Reads, Writes: w.Writes, ReadBytes: w.ReadBytes, WrittenBytes: w.WrittenBytes}
}

// Size returns the mean size of the reads (0) or writes (1) in bytes; 0 when there were none or the size is not
// known.
func (w Work) Size(i int) float64 {
	rate, bytes := w.Reads, w.ReadBytes
	if i == 1 {
		rate, bytes = w.Writes, w.WrittenBytes
	}
	if !w.Known || i > 1 || rate == 0 {
		return 0
	}
	return bytes / rate
}

// works is the number of rates of work.
const works = 4

// work is Work in whole numbers: reads, writes, KiB read and KiB written a second.
type work struct {
	Known bool         `json:"known"`
	Rates [works]int32 `json:"rates"`
}

func (w Work) rates() work {
	if !w.Known {
		return work{}
	}
	whole := func(x float64) int32 { return int32(math.Round(min(math.MaxInt32, max(0, x)))) }
	return work{true, [works]int32{whole(w.Reads), whole(w.Writes), whole(w.ReadBytes / 1024), whole(w.WrittenBytes / 1024)}}
}

// work is the inverse of rates.
func (w work) work() Work {
	r := w.Rates
	return Work{Known: w.Known, Reads: float64(r[0]), Writes: float64(r[1]), ReadBytes: 1024 * float64(r[2]), WrittenBytes: 1024 * float64(r[3])}
}

// medianWork returns the median of each rate; not known unless it is known of all points.
func medianWork(points []point) work {
	w := work{Known: true}
	column := make([]int32, len(points))
	for k := range works {
		for i, p := range points {
			if !p.Work.Known {
				return work{}
			}
			column[i] = p.Work.Rates[k]
		}
		w.Rates[k] = median(column)
	}
	return w
}

// costs are the seconds that the healthy device takes for a read, a write, a KiB read and
// a KiB written, none below 0. A linear model of this form is what the kernel's iocost
// controller uses (block/blk-iocost.c). All 0: not known.
type costs [works]float64

// usualCosts returns the costs of a SATA drive. They stand in for those of a device that hardly worked on its first
// day, so that the first real work does not look like none. They also say how the costs of different work relate if
// that day had only one mix of it: a device that always reads 4 KiB does not show what a read of 64 KiB takes, or a
// write.
func usualCosts() costs { return costs{60e-6, 30e-6, 2e-6, 2e-6} }

const (
	// usualBlocks is the weight, in blocks at usualLoad, of the assumption that the costs are the usual ones.
	usualBlocks = 4
	usualLoad   = 0.01
	// usualShare is the weight, as a share of all blocks, of the assumption that the costs relate to each other like
	// the usual ones.
	usualShare = 0.02
	// assumedBusy is the load, 0 to 1, that the most work is assumed to bring where no utilisation is known, as in many
	// recorded histories. The load curve then follows the work all the same.
	assumedBusy = 0.5
	// mostBusy is the load, in thousandths, beyond which nobody knows how much longer the work would have taken.
	mostBusy = 999
)

// learnCosts fits the costs to the utilisation u of blocks: -ln(1-u) is the time that the work of a second takes.
// They are 0 when no block has its work counted. Where no utilisation is known, they relate to each other like the usual ones.
func learnCosts(blocks []block) costs {
	var rows [][works]float64
	var times, blind []float64 // blind has what blocks whose utilisation is not known take at the usual costs
	usual := usualCosts()
	// First fit a single unknown: a multiple of the usual costs.
	atUsual, all := usualBlocks*usualLoad*usualLoad, usualBlocks*usualLoad*usualLoad
	squares := all
	for _, b := range blocks {
		if !b.Work.Known {
			continue
		}
		expected := usual.time(b.Work)
		if b.Load == unseen {
			blind = append(blind, expected)
			continue
		}
		var row [works]float64
		for k, rate := range b.Work.Rates {
			row[k] = float64(rate)
		}
		time := -math.Log(1 - float64(min(mostBusy, b.Load))/1000)
		rows, times = append(rows, row), append(times, time)
		atUsual, all, squares = atUsual+expected*time, all+expected*expected, squares+time*time
	}
	switch {
	case len(rows) > 0:
	case len(blind) > 0:
		slices.Sort(blind)
		return usual.times(-math.Log(1-assumedBusy) / max(usualLoad, blind[(len(blind)-1)*98/100]))
	default:
		return costs{}
	}
	multiple := atUsual / all
	if multiple <= 0 {
		return costs{}
	}
	weight := math.Sqrt(usualBlocks*usualLoad*usualLoad + usualShare*squares)
	for k, c := range usual {
		var row [works]float64
		row[k] = weight / (multiple * c)
		rows, times = append(rows, row), append(times, weight)
	}
	return leastSquares(rows, times)
}

// times returns the costs multiplied by a factor.
func (c costs) times(factor float64) costs {
	for k := range c {
		c[k] *= factor
	}
	return c
}

// leastSquares returns the x >= 0 for which rows times x is nearest to y. It tries every set of unknowns that may be
// above 0: with four, that is fifteen small systems.
func leastSquares(rows [][works]float64, y []float64) costs {
	var ata [works][works]float64
	var aty [works]float64
	for i, r := range rows {
		for j := range works {
			aty[j] += r[j] * y[i]
			for k := range works {
				ata[j][k] += r[j] * r[k]
			}
		}
	}
	var best costs
	least := 0.0 // of |Ax-y|² - |y|²
	for set := 1; set < 1<<works; set++ {
		var free []int
		for j := range works {
			if set>>j&1 == 1 {
				free = append(free, j)
			}
		}
		a, b := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
		for i, j := range free {
			b.SetVec(i, aty[j])
			for k := i; k < len(free); k++ {
				a.SetSym(i, k, ata[j][free[k]])
			}
		}
		var factor mat.Cholesky
		var x mat.VecDense
		if !factor.Factorize(a) || factor.SolveVecTo(&x, b) != nil || slices.Min(x.RawVector().Data) < 0 {
			continue
		}
		if off := -mat.Dot(&x, b); off < least {
			least, best = off, costs{}
			for i, j := range free {
				best[j] = x.AtVec(i)
			}
		}
	}
	return best
}

// load returns the load of a block or round, in thousandths: the utilisation that its work would cause on the healthy
// device if that is known, else the one that was observed.
func (c costs) load(w work, observed int) int {
	if !w.Known || c == (costs{}) {
		return max(0, observed)
	}
	return int(1000*(1-math.Exp(-c.time(w))) + 0.5)
}

// time returns how long, in seconds, the work of a second takes.
func (c costs) time(w work) (seconds float64) {
	for k, rate := range w.Rates {
		seconds += c[k] * float64(rate)
	}
	return seconds
}

// doubted is how many times longer than expected work may take whose costs are not known well: work of a kind that
// was never seen, and any work on the first day.
const doubted = 2

// load returns the load of a block or round, in thousandths. A final baseline goes by the work. Work of a kind that
// was not learned may take longer than expected: if the observed load is higher, it counts, up to what doubted
// allows. A device that is as busy as ever with less work, because that is all it can do, does not sleep as one under
// little load may: the lowest load that was seen counts. On the first day the observed load counts, up to the same limit
// for like work: a device that becomes slow is busier with the same work.
func (b *baseline) load(w work, observed int) int {
	expected, final := b.Costs.load(w, observed), b.Maturity == record.Final
	switch like := b.likeWork(w); {
	case observed == unseen:
		return expected
	case final && (like || observed <= expected):
		return max(expected, min(observed, b.MinLoad))
	case !final && (!like || observed <= expected):
		return max(0, observed)
	}
	return max(expected, min(observed, longer(expected, doubted)))
}

// longer returns a load, in thousandths, as it is when the same work takes so many times longer.
func longer(load int, times float64) int {
	return int(1000 * (1 - math.Pow(1-min(1, float64(load)/1000), times)))
}

// busier reports whether at last, for most of a fifth of the blocks, the device was busier than their work explains, even if that
// takes longer than expected. A device that became slow meanwhile is slow at the end.
func (c costs) busier(blocks []block) bool {
	blocks = blocks[len(blocks)*4/5:]
	beyond := 0
	for _, b := range blocks {
		if b.Load == unseen || !b.Work.Known || c == (costs{}) || b.Load > longer(c.load(b.Work, b.Load), doubted) {
			beyond++
		}
	}
	return 2*beyond > len(blocks)
}

// loaded returns the blocks with the load of their work.
func (b *baseline) loaded(blocks []block) []block { return withLoads(blocks, b.load) }

// loaded returns the blocks with the load of their work.
func (c costs) loaded(blocks []block) []block { return withLoads(blocks, c.load) }

func withLoads(blocks []block, load func(w work, observed int) int) []block {
	out := slices.Clone(blocks)
	for i := range out {
		out[i].Load = load(out[i].Work, out[i].Load)
	}
	return out
}
