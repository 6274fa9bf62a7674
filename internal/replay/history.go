package replay

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// plotColumns is the largest number of columns in a plot. A history fills more than half
// of them unless it is short.
const plotColumns = 96

// history keeps the judged blocks of five minutes for the plot, because the width of its
// columns depends on how long the history is. A year takes ten megabytes.
type history []judged

type judged struct {
	at     time.Time
	ratios drift.Values
	states [drift.Statistics]record.DriftState
}

// isNew reports whether a block has not been added yet.
func (h history) isNew(b drift.Block) bool { return len(h) == 0 || b.Time.After(h[len(h)-1].at) }

// add appends a block with the states after it.
func (h *history) add(b drift.Block, now []record.Drift) {
	j := judged{at: b.Time, ratios: b.Ratios}
	for i := range now {
		j.states[i] = now[i].State
	}
	*h = append(*h, j)
}

// column combines the blocks between two times: for each statistic the sum of the
// logarithms of the ratios, and the worst state.
type column struct {
	blocks int
	sums   drift.Values
	worst  [len(drift.Values{})]record.DriftState
}

// badness orders states, to find the worst one in a column.
func badness(s record.DriftState) int {
	return slices.Index([]record.DriftState{record.Learning, record.Stable, record.Suspect, record.Improved, record.Regressed}, s)
}

// columns groups the blocks into columns of equal duration.
func (h history) columns() (columns []column, width time.Duration) {
	from, span := h[0].at, h[len(h)-1].at.Sub(h[0].at)
	for width = 5 * time.Minute; span/width >= plotColumns; {
		width *= 2
	}
	columns = make([]column, span/width+1)
	for _, b := range h {
		c := &columns[b.at.Sub(from)/width]
		c.blocks++
		for i, ratio := range b.ratios {
			if ratio > 0 {
				c.sums[i] += math.Log(ratio)
			}
			if badness(b.states[i]) > badness(c.worst[i]) {
				c.worst[i] = b.states[i]
			}
		}
	}
	return columns, width
}

// line returns the mean ratio of statistic i in each column, 0 where there is none, and a
// letter for the state of each column.
func line(columns []column, i int) (ratios []float64, marks string) {
	for _, c := range columns {
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
	case record.Stable, record.Learning, record.Waiting, record.Unknown:
	}
	return "·"
}
