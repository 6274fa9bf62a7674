package drift

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Baselines that differ by these ratios are far apart. Drives of one model differ by a
// few percent in the median; tails depend more on what else a drive does.
const (
	farMedian = 1.3
	farTail   = 2
)

// SlowerThanPeers finds baselines that are far slower than those of the peers: other
// drives of the same model and size on the node. Its result is by the id of the target. A
// drive that was slow from the first day never drifts, but it differs from its peers. Each
// baseline is compared with the median of its peers; of two drives the slower one is named.
// Probe files are left out, as their filesystems differ, and so are early baselines.
func SlowerThanPeers(s record.Snapshot) map[string][]record.Warning {
	found := map[string][]record.Warning{}
	for _, t := range s.Targets {
		for _, p := range t.Probes {
			if !hasReference(t, p) {
				continue
			}
			if text := slowerThan(p, peers(s, t, p.Probe)); text != "" {
				found[t.ID] = append(found[t.ID], record.Warning{Code: record.WarnSlowerThanPeers, Text: text})
			}
		}
	}
	return found
}

func hasReference(t record.TargetStatus, p record.ProbeStatus) bool {
	return !t.File && t.Device.Model != "" && p.Baseline != nil && !p.Baseline.Learned.IsZero() && p.Baseline.Maturity != record.Early
}

// peers are the baselines of the same probe on other drives of the same model.
func peers(s record.Snapshot, t record.TargetStatus, probe record.Probe) []record.Baseline {
	var list []record.Baseline
	for _, other := range s.Targets {
		if other.ID == t.ID || other.Device.Model != t.Device.Model || other.Device.SizeBytes != t.Device.SizeBytes {
			continue
		}
		for _, p := range other.Probes {
			if p.Probe == probe && hasReference(other, p) {
				list = append(list, *p.Baseline)
			}
		}
	}
	return list
}

// slowerThan says by how much a baseline is far slower than others; empty when it is not.
func slowerThan(p record.ProbeStatus, others []record.Baseline) string {
	if len(others) == 0 {
		return ""
	}
	var far []string
	for _, statistic := range record.Statistics() {
		limit := farMedian
		if statistic.IsTail() {
			limit = farTail
		}
		values := make([]float64, 0, len(others))
		for _, b := range others {
			values = append(values, b.Values[statistic])
		}
		if ratio := statistic.Slower(median(values), p.Baseline.Values[statistic]); ratio >= limit {
			far = append(far, fmt.Sprintf("%s %s", statistic.Short(), record.Ratio{Ratio: ratio}))
		}
	}
	if len(far) == 0 {
		return ""
	}
	text := fmt.Sprintf("the baseline of probe %s is far slower than those of the %d other drives of this model on the node (%s)",
		p.Probe.Name, len(others), strings.Join(far, ", "))
	if len(others) == 1 {
		text = fmt.Sprintf("the baseline of probe %s is far slower than that of the other drive of this model on the node (%s)",
			p.Probe.Name, strings.Join(far, ", "))
	}
	if differ := onlyHere(p.Baseline.Conditions, others); len(differ) > 0 {
		return text + "; only here: " + strings.Join(differ, ", ")
	}
	return text
}

// onlyHere lists the conditions that none of the others has.
func onlyHere(c record.Conditions, others []record.Baseline) []string {
	differ := map[string]int{} // from how many of the others, by condition
	for _, b := range others {
		for _, change := range b.Conditions.Changes(c) {
			differ[change.Condition]++
		}
	}
	var list []string
	for _, condition := range c.List() {
		if condition.Value != "" && differ[condition.Name] == len(others) {
			list = append(list, fmt.Sprintf("%s %s", record.ConditionTitle(condition.Name), condition.Value))
		}
	}
	return list
}
