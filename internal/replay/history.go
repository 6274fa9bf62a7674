package replay

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// plotColumns is how many columns a history gets at most; never under half of them,
// as columns are joined in pairs when there are too many.
const plotColumns = 96

// history gathers the judged blocks in columns of equal time. It does not know
// beforehand how long a history is.
type history struct {
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
	return slices.Index([]record.DriftState{record.Learning, record.Stable, record.Suspect, record.Improved, record.Regressed}, s)
}

// add takes a block once, however often it is given.
func (p *history) add(b drift.Block, states map[record.Statistic]record.DriftState) {
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
func (p *history) halve() {
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

// line is the mean ratio of statistic i in each column, 0 where there is none, and a
// letter for each column's state.
func (p *history) line(i int) (ratios []float64, marks string) {
	for _, c := range p.columns {
		if c.blocks == 0 {
			ratios, marks = append(ratios, 0), marks+" "
			continue
		}
		ratios, marks = append(ratios, math.Exp(c.sums[i]/float64(c.blocks))), marks+mark(c.worst[i])
	}
	return ratios, marks
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
