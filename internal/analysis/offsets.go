package analysis

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// offsetKey identifies a line within a run.
type offsetKey struct {
	target string
	beside int
}

// Offsets returns for each target its sequential speeds in order of offset, alone and beside
// others. It returns nil when no target has two places, or when the loads differ, as those of a
// user's own job may. Repeats at one place count as their mean. Repeats that may not decide count
// only where none may.
func Offsets(steps []record.Step) record.OffsetLines {
	var lines groups[offsetKey, []record.Step]
	load := ""
	for _, s := range complete(steps) {
		if !s.Workload.OfDrive() || s.Workload.Pattern != record.Sequential || len(s.Workload.Targets) > 1 {
			continue
		}
		if w := s.Workload.String(); load == "" {
			load = w
		} else if load != w {
			return nil
		}
		key := offsetKey{beside: len(s.Workload.Beside)}
		if len(s.Workload.Targets) == 1 {
			key.target = s.Workload.Targets[0]
		}
		add(&lines, key, s)
	}
	var all record.OffsetLines
	for _, key := range lines.keys {
		o := offsetSpeeds(*lines.at(key))
		if o == nil {
			continue
		}
		o.Target, o.Beside = key.target, key.beside
		if i := slices.IndexFunc(all, func(l record.OffsetSpeeds) bool { return l.Target == key.target && l.Beside == 0 }); key.beside > 0 && i >= 0 {
			o.AgainstAlone = againstAlone(all[i], *o)
		}
		all = append(all, *o)
	}
	return all
}

func offsetSpeeds(steps []record.Step) *record.OffsetSpeeds {
	deciding, rest, codes := decide(steps)
	rates, spoiled := ratesAt(deciding), ratesAt(rest)
	o := record.OffsetSpeeds{Disregarded: len(rest), Codes: codes}
	for offset, r := range rates {
		o.Points = append(o.Points, offsetSpeed(offset, r))
	}
	if len(o.Points) >= 2 {
		bySpeed := func(a, b record.OffsetSpeed) int { return cmp.Compare(a.BytesPerSecond, b.BytesPerSecond) }
		o.Slowest, o.Fastest = slices.MinFunc(o.Points, bySpeed), slices.MaxFunc(o.Points, bySpeed)
		o.Evenness = o.Slowest.BytesPerSecond / o.Fastest.BytesPerSecond
	}
	for offset, r := range spoiled {
		if _, decides := rates[offset]; !decides {
			p := offsetSpeed(offset, r)
			p.Disregarded = true
			o.Points = append(o.Points, p)
		}
	}
	if len(o.Points) < 2 {
		return nil
	}
	slices.SortFunc(o.Points, func(a, b record.OffsetSpeed) int { return cmp.Compare(a.OffsetBytes, b.OffsetBytes) })
	if others := othersOf(steps); len(others) > 0 {
		o.OthersBytesPerSecond = stat.Mean(others, nil)
	}
	return &o
}

// ratesAt returns the speeds of steps by their offset.
func ratesAt(steps []record.Step) map[int64][]float64 {
	rates := map[int64][]float64{}
	for _, s := range steps {
		rates[s.Workload.OffsetBytes] = append(rates[s.Workload.OffsetBytes], bytesOf(s))
	}
	return rates
}

func offsetSpeed(offset int64, rates []float64) record.OffsetSpeed {
	mean := confidence.Mean(rates)
	return record.OffsetSpeed{OffsetBytes: offset, BytesPerSecond: mean.Value, Lower: mean.Lower, Upper: mean.Upper}
}

// othersOf returns the combined speed of the other devices during each step.
func othersOf(steps []record.Step) []float64 {
	var others []float64
	for _, s := range steps {
		if len(s.Workload.Beside) > 0 && len(s.Parts) > 1 {
			sum := 0.0
			for _, p := range s.Parts[1:] {
				sum += bytesOf(record.Step{Read: p.Read, Write: p.Write})
			}
			others = append(others, sum)
		}
	}
	return others
}

// againstAlone compares the places that both lines have and that may decide; nil when there are
// none.
func againstAlone(alone, beside record.OffsetSpeeds) *record.Interval {
	var from, to []float64
	for _, p := range beside.Points {
		i, found := slices.BinarySearchFunc(alone.Points, p.OffsetBytes, func(q record.OffsetSpeed, at int64) int { return cmp.Compare(q.OffsetBytes, at) })
		if found && !p.Disregarded && !alone.Points[i].Disregarded && p.BytesPerSecond > 0 && alone.Points[i].BytesPerSecond > 0 {
			from, to = append(from, alone.Points[i].BytesPerSecond), append(to, p.BytesPerSecond)
		}
	}
	if len(from) == 0 {
		return nil
	}
	return new(confidence.PairedRatio(from, to))
}
