package replay

import (
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// plotColumns is how wide a plot gets at most; it is never under half of that,
// as columns are joined in pairs when there are too many.
const plotColumns = 96

// plot gathers the judged blocks in columns of equal time. It does not know
// beforehand how long a history is.
type plot struct {
	from    time.Time
	width   time.Duration // of a column
	last    time.Time     // of the block added last
	columns []column
}

// column is what lies between two times: per statistic the mean logarithm of the
// ratio, and the worst state.
type column struct {
	blocks int
	sums   drift.Values
	worst  [len(drift.Values{})]record.DriftState
}

// badness orders states for a column that saw several.
func badness(s record.DriftState) int {
	switch s {
	case record.Regressed:
		return 4
	case record.Improved:
		return 3
	case record.Suspect:
		return 2
	case record.Stable:
		return 1
	case record.Learning:
	}
	return 0
}

// add takes a block once, however often it is given.
func (p *plot) add(b drift.Block, states map[record.Statistic]record.DriftState) {
	if !b.Time.After(p.last) {
		return
	}
	p.last = b.Time
	if p.width == 0 {
		p.from, p.width = b.Time, 5*time.Minute
	}
	for b.Time.Sub(p.from)/p.width >= plotColumns {
		p.halve()
	}
	at := int(b.Time.Sub(p.from) / p.width)
	for len(p.columns) <= at {
		p.columns = append(p.columns, column{})
	}
	c := &p.columns[at]
	c.blocks++
	for i, s := range record.Statistics() {
		c.sums[i] += math.Log(b.Ratios[i])
		if badness(states[s]) > badness(c.worst[i]) {
			c.worst[i] = states[s]
		}
	}
}

// halve joins columns in pairs.
func (p *plot) halve() {
	p.width *= 2
	joined := p.columns[:0]
	for i := 0; i < len(p.columns); i += 2 {
		c := p.columns[i]
		if i+1 < len(p.columns) {
			c = c.joined(p.columns[i+1])
		}
		joined = append(joined, c)
	}
	p.columns = joined
}

func (c column) joined(d column) column {
	c.blocks += d.blocks
	for i := range c.sums {
		c.sums[i] += d.sums[i]
		if badness(d.worst[i]) > badness(c.worst[i]) {
			c.worst[i] = d.worst[i]
		}
	}
	return c
}

// line draws statistic i: bars for the ratio from low to high, and below them a
// letter for the state of each column.
func (p *plot) line(i int) (bars, marks string, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range p.columns {
		if c.blocks > 0 {
			mean := c.sums[i] / float64(c.blocks)
			low, high = min(low, mean), max(high, mean)
		}
	}
	// Below a tenth, noise would fill the whole plot.
	if least := math.Log(1.1); high-low < least {
		middle := (high + low) / 2
		low, high = middle-least/2, middle+least/2
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	for _, c := range p.columns {
		if c.blocks == 0 {
			bars, marks = bars+" ", marks+" "
			continue
		}
		part := (c.sums[i]/float64(c.blocks) - low) / (high - low)
		bars += string(steps[min(len(steps)-1, int(part*float64(len(steps))))])
		marks += mark(c.worst[i])
	}
	return bars, marks, math.Exp(low), math.Exp(high)
}

func mark(s record.DriftState) string {
	switch s {
	case record.Regressed:
		return "R"
	case record.Improved:
		return "I"
	case record.Suspect:
		return "?"
	case record.Stable, record.Learning:
	}
	return "·"
}
