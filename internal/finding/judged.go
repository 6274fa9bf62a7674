package finding

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ofTogether lists what drives of the node did together: one finding for each source, of its
// first statistic, as the others say the same.
func ofTogether(all []record.Together) []Finding {
	var list []Finding
	told := map[string]bool{}
	for _, t := range all {
		if told[t.Source] {
			continue
		}
		told[t.Source] = true
		code, text := HostSlower, "the host is slower: its drives got slower together"
		if t.Scope == record.ScopeBatch {
			code, text = BatchSlower, "several drives got slower together"
		}
		evidence := []string{
			fmt.Sprintf("%d of %d drives", len(t.Drives), t.Of),
			fmt.Sprintf("%s %s %s", t.Source, t.Statistic.Short(), t.Ratio),
		}
		for _, c := range t.Attribution {
			evidence = append(evidence, "with "+c.String())
		}
		f := found(code, text, evidence...)
		f.Since = t.Since
		list = append(list, f)
	}
	return list
}

// ofVerdict lists what the verdict on a drive says beyond the states of its probes.
func ofVerdict(t record.TargetStatus, now time.Time) []Finding {
	v := t.Verdict
	if v != nil && v.Unjudged != nil && len(t.Probes) == 0 && now.Sub(v.Unjudged.Since) >= unjudgedFor {
		f := found(NotJudged, "the drive was not judged for a day", v.Unjudged.String())
		f.Since = v.Unjudged.Since
		return []Finding{f}
	}
	if v == nil || v.Verdict != record.Degraded && v.Verdict != record.Severe {
		return nil
	}
	if !slices.Contains(v.ThanBefore, "traffic") {
		return nil
	}
	f := found(TrafficSlower, "the drive's own traffic is slower than before", v.Ratio.String())
	f.Since = v.Since
	return []Finding{f}
}
