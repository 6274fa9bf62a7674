package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// firstSearch is how many blocks of a device are searched at first, in all, before a
	// block is known.
	firstSearch = 2048
	// runTries is how many places are tried to find a sequential run of written blocks.
	runTries = 16
)

// deviceRound searches for a few written blocks, draws offsets from the pool and executes
// the round.
func (b *Prober) deviceRound(ctx context.Context, p record.Probe) (record.Measurement, error) {
	m := record.Measurement{Probe: p.Name, Start: time.Now()}
	s, err := newSearch(b.source, b.area.BlockBytes, p.Timeout)
	if err != nil {
		return record.Measurement{}, fmt.Errorf("probe %s: %w", p.Name, err)
	}
	defer s.release()

	if p.Pattern == record.Random { // no block is read twice in a round, and a pool has no more
		p.IOs = min(p.IOs, poolCapacity-p.WarmupIOs)
	}
	counted := b.lookAround(ctx, s, p)
	dealt := b.deal(ctx, s, p, counted)
	switch cause := context.Cause(ctx); {
	case cause != nil && !errors.Is(cause, context.DeadlineExceeded):
		return record.Measurement{}, fmt.Errorf("probe %s: %w", p.Name, cause)
	case cause != nil:
		m.Outcome, m.CheckedBlocks, m.UnwrittenBlocks = record.OutcomeTimeout, s.checked, s.uniform
		m.Reason = "stopped in the search for written blocks: the time for a round was over"
	case len(dealt) == 0:
		m.Outcome, m.CheckedBlocks, m.UnwrittenBlocks = record.OutcomeUnmapped, s.checked, s.uniform
		m.Reason = fmt.Sprintf("only %d written blocks found so far (%s): too few for a round; "+
			"the search goes on, or probe a file on the device instead", b.pool.Len(), b.writtenText())
	default:
		warmup := min(p.WarmupIOs, len(dealt)-1)
		result, err := b.engine.Round(ctx, Round{
			Probe: p, Source: b.source, Warmup: b.aligned(p, dealt[:warmup]), Offsets: b.aligned(p, dealt[warmup:]),
		})
		if err != nil {
			return record.Measurement{}, err
		}
		if p.Pattern == record.Random {
			for i, unwritten := range result.Unwritten {
				if unwritten {
					b.pool.Drop(dealt[warmup+i])
				}
			}
		}
		m = result.Measurement
	}
	s.addTo(&m)
	if !b.pool.Enough() {
		m.Warnings = append(m.Warnings, record.Warning{
			Code: record.WarnPoolSmall,
			Text: fmt.Sprintf("only %d of the %d written blocks that a baseline takes are known so far (%s)",
				b.pool.Len(), b.pool.wanted(), b.writtenText()),
		})
	}
	return m, nil
}

// lookAround searches for written blocks and returns how many counted I/Os are left for the
// round. The search of a random probe replaces part of its I/Os: half of them while too few
// blocks are known, for a baseline or for a whole round, and one in sixteen afterwards. The
// search of a sequential probe adds a thirty-second to its bytes while too few are known,
// and a five-hundredth afterwards. Only at first, while no block of a device is known, does
// the search read more than that.
func (b *Prober) lookAround(ctx context.Context, s *search, p record.Probe) int {
	var look int
	counted := p.IOs
	switch enough := b.pool.Enough() && b.pool.Len() >= p.WarmupIOs+p.IOs; {
	case p.Pattern == record.Sequential && enough:
		look = int(max(1, p.RoundBytes()/granule/512))
	case p.Pattern == record.Sequential:
		look = int(max(1, p.RoundBytes()/granule/32))
	case enough:
		look = p.IOs / 16
		counted -= look
	default:
		look = max(1, p.IOs/2)
		counted = max(1, counted-look)
	}
	if b.pool.Len() == 0 {
		first := firstSearch - b.pool.Sampled()
		if b.Sparing {
			first = p.IOs
		}
		look = max(look, first)
	}
	for _, c := range b.pool.Candidates(look) {
		if s.over(ctx) {
			break
		}
		if written, ok := s.written(c.Offset); ok {
			b.pool.Saw(c, written)
		}
	}
	return counted
}

// deal draws the known blocks of a round, or returns none if the pool has too few. For a
// sequential probe it returns the blocks of one run. Otherwise it returns as many blocks as
// the round has I/Os, no two of them in the same block of the probe.
func (b *Prober) deal(ctx context.Context, s *search, p record.Probe, counted int) []int64 {
	if p.Pattern == record.Sequential {
		return b.dealRun(ctx, s, p)
	}
	total := p.WarmupIOs + counted
	dealt := make([]int64, 0, total)
	drawn := make(map[int64]bool, total)
	for range b.pool.Len() {
		off, ok := b.pool.Deal()
		if !ok {
			break
		}
		if at := b.align(p, off); !drawn[at] {
			drawn[at] = true
			dealt = append(dealt, off)
		}
		if len(dealt) == total {
			return dealt
		}
	}
	return nil
}

// dealRun looks for a known block at the start of a fully written run. To check a run, it
// reads its middle and its end. If no try succeeds, the last one is used all the same: the
// round will then report that it was never written.
func (b *Prober) dealRun(ctx context.Context, s *search, p record.Probe) []int64 {
	room := b.area.Size / p.BlockBytes * p.BlockBytes
	length := min(int64(p.WarmupIOs+p.IOs)*p.BlockBytes, room)
	var start int64
	for range runTries {
		known, ok := b.pool.Deal()
		if !ok {
			return nil
		}
		start = min(known-known%p.BlockBytes, room-length)
		if s.over(ctx) {
			break
		}
		middle, _ := s.written(start + length/2/granule*granule)
		end, _ := s.written(start + (length-1)/granule*granule)
		if middle && end {
			break
		}
	}
	run := make([]int64, 0, length/p.BlockBytes)
	for off := start; off < start+length; off += p.BlockBytes {
		run = append(run, off)
	}
	return run
}

// align rounds an offset down to the probe's block size, and keeps the block inside the
// device.
func (b *Prober) align(p record.Probe, off int64) int64 {
	last := (b.area.Size/p.BlockBytes - 1) * p.BlockBytes
	return min(off-off%p.BlockBytes, last)
}

func (b *Prober) aligned(p record.Probe, offsets []int64) []int64 {
	moved := make([]int64, len(offsets))
	for i, off := range offsets {
		moved[i] = b.align(p, off)
	}
	return moved
}

func (b *Prober) writtenText() string {
	ratio, ok := b.pool.WrittenRatio()
	if !ok {
		return "nothing sampled yet"
	}
	return fmt.Sprintf("%.1f %% of the sampled blocks read as written", 100*ratio)
}
