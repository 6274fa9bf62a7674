package probe

import (
	"context"
	"fmt"
	"io"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Area is the part of a target that probes use, in bytes.
type Area struct {
	Start, Size int64
	// BlockBytes is the size of a logical block, of which every I/O must be a multiple; 0 if unknown.
	BlockBytes int64
}

// Prober executes the probes of one target and remembers their positions. It chooses offsets,
// searches a raw device for written blocks, and updates the pool with what was read. It is not safe
// for concurrent use.
type Prober struct {
	// Sparing says that the target has no time to spare, so that the first search for written blocks
	// reads no more than a round.
	Sparing bool

	engine *Engine
	source io.ReaderAt
	sink   Sink
	area   Area
	pool   *Pool // nil for files, which are fully written
	seed   uint64
	orders map[string]*Permutation // random offsets, per probe
	heads  map[string]int64        // sequential offsets, per probe
}

// NewFileProber returns a prober for an area of a file that is known to be fully written. If sink is
// nil, the prober only reads.
func NewFileProber(e *Engine, source io.ReaderAt, sink Sink, area Area, seed uint64) *Prober {
	return &Prober{
		engine: e, source: source, sink: sink, area: area, seed: seed,
		orders: map[string]*Permutation{}, heads: map[string]int64{},
	}
}

// NewDeviceProber returns a prober for a raw device with logical blocks of blockBytes. It only reads,
// and only blocks that pool knows to be written.
func NewDeviceProber(e *Engine, source io.ReaderAt, pool *Pool, blockBytes int64) *Prober {
	return &Prober{engine: e, source: source, pool: pool, area: Area{Size: pool.device * granule, BlockBytes: blockBytes}}
}

// Fit returns p with its block size rounded up to a multiple of the target's logical block.
func (b *Prober) Fit(p record.Probe) record.Probe {
	if logical := b.area.BlockBytes; logical > 0 {
		p.BlockBytes = (p.BlockBytes + logical - 1) / logical * logical
	}
	return p
}

// Round executes one round of a probe, fitted to the target. If that enlarges its blocks, the
// measurement has a warning. The caller adds the device, the conditions and the load to the
// measurement.
func (b *Prober) Round(ctx context.Context, asked record.Probe) (record.Measurement, error) {
	p := b.Fit(asked)
	if p.Direction == record.Write && b.sink == nil {
		return record.Measurement{}, fmt.Errorf("probe %s: %w", p.Name, ErrReadOnly)
	}
	if b.area.Size < p.BlockBytes {
		return record.Measurement{}, fmt.Errorf("probe %s: the target's %d bytes are less than a block of %d",
			p.Name, b.area.Size, p.BlockBytes)
	}
	round := b.fileRound
	if b.pool != nil {
		round = b.deviceRound
	}
	m, err := round(ctx, p)
	if p.BlockBytes != asked.BlockBytes {
		m.Warnings = append(m.Warnings, record.Warning{
			Code: record.WarnLargerBlocks,
			Text: fmt.Sprintf("%s moves %d bytes at a time instead of %d: the device has logical blocks of %d bytes",
				p.Name, p.BlockBytes, asked.BlockBytes, b.area.BlockBytes),
		})
	}
	return m, err
}

func (b *Prober) fileRound(ctx context.Context, p record.Probe) (record.Measurement, error) {
	offsets := make([]int64, p.WarmupIOs+p.IOs)
	for i := range offsets {
		offsets[i] = b.area.Start + b.fileOffset(p)
	}
	result, err := b.engine.Round(ctx, Round{
		Probe: p, Source: b.source, Sink: b.sink,
		Warmup: offsets[:p.WarmupIOs], Offsets: offsets[p.WarmupIOs:],
	})
	if err != nil {
		return record.Measurement{}, err
	}
	m := result.Measurement
	// A window has about ten rounds. If these read the whole target more than once, the drive may
	// answer from its own cache.
	if p.Pattern == record.Random && b.area.Size/p.BlockBytes < int64(10*p.IOs) {
		m.Warnings = append(m.Warnings, record.Warning{
			Code: record.WarnRepeatedBlocks,
			Text: fmt.Sprintf("the file has only %d blocks of %d bytes, so the same ones are read again within minutes "+
				"and may come from the drive's own cache", b.area.Size/p.BlockBytes, p.BlockBytes),
		})
	}
	return m, nil
}

func (b *Prober) fileOffset(p record.Probe) int64 {
	blocks := b.area.Size / p.BlockBytes
	if p.Pattern == record.Sequential {
		head := b.heads[p.Name] % blocks
		b.heads[p.Name] = head + 1
		return head * p.BlockBytes
	}
	order := b.orders[p.Name]
	if order == nil {
		order = NewPermutation(uint64(blocks), b.seed)
		b.orders[p.Name] = order
	}
	return int64(order.Next()) * p.BlockBytes
}
