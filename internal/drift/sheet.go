package drift

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/glob"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// A baseline is far from the data sheet from these ratios on. The host has its share in each latency. The latency
	// of larger blocks is computed, and not promised by the maker.
	farPromised = 1.5
	farReckoned = 2
)

// FlagSlowerThanDataSheet adds the warnings of SlowerThanDataSheet to the targets.
func FlagSlowerThanDataSheet(s *record.Snapshot, sheets []record.DataSheet) {
	found := SlowerThanDataSheet(*s, sheets)
	for i := range s.Targets {
		t := &s.Targets[i]
		t.Warnings = slices.Concat(t.Warnings, found[t.ID])
	}
}

// SlowerThanDataSheet returns warnings, by the id of the target, about baselines that are far slower than the drive's
// maker promises: a drive that was slow from the first day never drifts, and may have no peers. The model of a sheet
// is a pattern (glob.Match); the first sheet that matches counts.
//
// Only like is compared with like: the median of reads one at a time with the typical latency of random reads, which
// makers state for 4 KiB unless the sheet says otherwise. Smaller blocks take no longer. For larger ones, the time that
// the bytes take at the sequential rate is added. IOPS and bandwidth are not compared, as makers promise them at depths
// at which no probe runs. Nor are writes, which are promised for raw devices, where no probe writes. Probe files and
// early baselines are left out.
func SlowerThanDataSheet(s record.Snapshot, sheets []record.DataSheet) map[string][]record.Warning {
	found := map[string][]record.Warning{}
	for _, t := range s.Targets {
		sheet := slices.IndexFunc(sheets, func(d record.DataSheet) bool { return glob.Match(d.Model, t.Device.Model) })
		if sheet < 0 {
			continue
		}
		for _, p := range t.Probes {
			if !hasReference(t, p) {
				continue
			}
			if text := slowerThanPromised(p, sheets[sheet]); text != "" {
				found[t.ID] = append(found[t.ID], record.Warning{Code: record.WarnSlowerThanSheet, Text: text})
			}
		}
	}
	return found
}

func hasReference(t record.TargetStatus, p record.ProbeStatus) bool {
	return !t.File && t.Device.Model != "" && p.Baseline != nil && !p.Baseline.Learned.IsZero() && p.Baseline.Maturity != record.Early
}

// slowerThanPromised returns a text that says by how much a baseline is far slower; empty when it is not, or when the
// sheet says nothing of such a probe.
func slowerThanPromised(p record.ProbeStatus, sheet record.DataSheet) string {
	promised, far := promisedLatency(p.Probe, sheet)
	ratio := record.LatencyP50.Slower(promised.Value.Seconds(), p.Baseline.Values[record.LatencyP50])
	if promised.Value == 0 || ratio < far {
		return ""
	}
	blocks := ""
	if promised.BlockBytes != 0 {
		blocks = " for " + units.BlockSize(promised.BlockBytes)
	}
	normal := time.Duration(p.Baseline.Values[record.LatencyP50] * float64(time.Second))
	return fmt.Sprintf("the baseline of probe %s is far slower than the data sheet: p50 %s instead of %s%s, %s",
		p.Probe.Name, units.Latency(normal), units.Latency(promised.Value), blocks, record.Ratio{Ratio: ratio})
}

// promisedLatency returns the latency that a data sheet promises for a probe, and the ratio to that from which on a
// baseline is far slower; 0 when the sheet says nothing of it. BlockBytes is set when the promise is for blocks that are
// neither the usual ones nor those of the probe.
func promisedLatency(p record.Probe, sheet record.DataSheet) (promised record.Promise[time.Duration], far float64) {
	if sheet.RandomReadLatency == nil || p.Direction != record.Read || p.QueueDepth != 1 {
		return promised, 0
	}
	promised = *sheet.RandomReadLatency
	if p.BlockBytes > cmp.Or(promised.BlockBytes, record.SheetRandomBytes) {
		rate := sheet.SequentialReadBytesPerSecond
		if rate == nil {
			return record.Promise[time.Duration]{}, 0
		}
		bytes := time.Duration(float64(p.BlockBytes) / rate.Value * float64(time.Second))
		return record.Promise[time.Duration]{Value: promised.Value + bytes}, farReckoned
	}
	if promised.BlockBytes == p.BlockBytes || promised.BlockBytes == record.SheetRandomBytes {
		promised.BlockBytes = 0
	}
	return promised, farPromised
}
