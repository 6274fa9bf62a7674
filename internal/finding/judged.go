package finding

import (
	"fmt"
	"slices"

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
func ofVerdict(t record.TargetStatus) []Finding {
	v := t.Verdict
	if v == nil || v.Verdict != record.Degraded && v.Verdict != record.Severe {
		return nil
	}
	var list []Finding
	warned := slices.ContainsFunc(t.Warnings, func(w record.Warning) bool { return w.Code == record.WarnSlowerThanPeers })
	if v.Peers > 0 && !warned {
		list = append(list, found(record.WarnSlowerThanPeers, "far slower than its peers", v.Ratio.String(), fmt.Sprintf("beside %d drives", v.Peers)))
	}
	if slices.Contains(v.Witnesses, "traffic") {
		list = append(list, found(TrafficSlower, "the drive's own traffic is slower than before", v.Ratio.String()))
	}
	for i := range list {
		list[i].Since = v.Since
	}
	return list
}
