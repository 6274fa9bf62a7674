package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	// blockLength is the unit of comparison. Single rounds differ too much, and
	// one slow round must not weigh more than one fast round.
	blockLength = 5 * time.Minute
	// minBlockRounds is how many rounds a block needs. A round that is alone in its block counts with those of the
	// next.
	minBlockRounds = 2
	// maxBlockSlots is after how many slots such a round is dropped, because it is too far from the next one. It is
	// also the longest a block may take.
	maxBlockSlots = 12

	// LongestInterval is up to which interval all rounds are compared. Above it many rounds, and from its double on all, are
	// dropped.
	LongestInterval = maxBlockSlots * blockLength
)

// Round is a good round as the comparison sees it.
type Round struct {
	Time   time.Time `json:"time"`
	Values Values    `json:"values"`
	// Utilisation is the share (0 to 1) of time that the device was busy with
	// others' I/O; negative when not known. Then the work tells the load, and without it the device counts as idle.
	Utilisation float64 `json:"utilisation"`
	// Work is what others asked of the device.
	Work Work `json:"work,omitzero"`
}

// unseen is the load of rounds and blocks whose utilisation is not known.
const unseen = -1

// load is the round's utilisation in thousandths, 0 to 1000, or unseen.
func (r Round) load() int {
	if r.Utilisation < 0 {
		return unseen
	}
	return int(1000*min(1, r.Utilisation) + 0.5)
}

// slot numbers the five minutes that t lies in, by the clock.
func slot(t time.Time) int64 { return t.Unix() / int64(blockLength/time.Second) }

func slotTime(n int64) time.Time { return time.Unix(n*int64(blockLength/time.Second), 0).UTC() }

// point is a round relative to its epoch's reference.
type point struct {
	Time   int64  `json:"time,omitempty"` // in seconds since 1970
	Load   int    `json:"load"`           // observed, thousandths, or unseen
	Work   work   `json:"work,omitzero"`
	Shifts Shifts `json:"shifts"`
}

// openBlock gathers the rounds of the block under way.
type openBlock struct {
	Slot   int64   `json:"slot"` // at which the block begins
	Points []point `json:"points,omitempty"`
}

// add adds a round of the block that begins at slot n. It returns the block that ended before, if one did.
func (o *openBlock) add(n int64, p point) (block, bool) {
	var done block
	var ok bool
	switch {
	case len(o.Points) == 0:
		o.Slot = n
	case n < o.Slot || (len(o.Points) < minBlockRounds && n-o.Slot > maxBlockSlots):
		// The clock was set back, or the round before is too long ago.
		*o = openBlock{Slot: n}
	case n != o.Slot && len(o.Points) >= minBlockRounds:
		done, ok = o.close(), true
		*o = openBlock{Slot: n, Points: o.Points[:0]}
	default:
		o.Slot = n // a lone round counts in the later slot: blocks of drives are compared if they end together
	}
	o.Points = append(o.Points, p)
	return done, ok
}

// close returns the block of the rounds so far; there is at least one. Their order does not matter.
func (o *openBlock) close() block {
	b := block{Slot: o.Slot, Rounds: len(o.Points), Work: medianWork(o.Points)}
	loads := make([]int, len(o.Points))
	for i, p := range o.Points {
		loads[i] = p.Load
	}
	b.Load = median(loads)
	for i := range statistics {
		column := make([]Shift, 0, len(o.Points))
		for _, p := range o.Points {
			if p.Shifts[i].Known() {
				column = append(column, p.Shifts[i])
			}
		}
		b.Level[i], b.Worst[i] = missing, missing
		if len(column) >= minBlockRounds {
			b.Level[i], b.Worst[i] = median(column), slices.Max(column)
		}
	}
	return b
}

// block is what the rounds of five minutes (or more, if they are rare) say together: per statistic the median round
// and the slowest one, as shifts against the epoch's reference.
type block struct {
	Slot         int64
	Rounds, Load int // Load is the median observed utilisation in thousandths, or unseen
	Work         work
	Level, Worst Shifts
}

// has returns the blocks that have statistic i.
func has(blocks []block, i int) []block {
	if !slices.ContainsFunc(blocks, func(b block) bool { return !b.Level[i].Known() }) {
		return blocks
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b block) bool { return !b.Level[i].Known() })
}

// MarshalJSON writes a row of numbers: slot, rounds, load, the levels of the
// statistics in their order, the slowest rounds, and the work where it is known.
func (b block) MarshalJSON() ([]byte, error) {
	row := []int64{b.Slot, int64(b.Rounds), int64(b.Load)}
	for _, s := range slices.Concat(b.Level[:], b.Worst[:]) {
		row = append(row, int64(s))
	}
	if b.Work.Known {
		for _, rate := range b.Work.Rates {
			row = append(row, int64(rate))
		}
	}
	return json.Marshal(row)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *block) UnmarshalJSON(data []byte) error {
	var row []int32
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	const shifts = 3 + 2*statistics
	if len(row) != shifts && len(row) != shifts+works {
		return fmt.Errorf("a block has %d numbers instead of %d or %d", len(row), shifts, shifts+works)
	}
	*b = block{Slot: int64(row[0]), Rounds: int(row[1]), Load: int(row[2])}
	for i := range statistics {
		b.Level[i], b.Worst[i] = Shift(row[3+i]), Shift(row[3+statistics+i])
	}
	if len(row) > shifts {
		b.Work.Known = true
		copy(b.Work.Rates[:], row[shifts:])
	}
	return nil
}
