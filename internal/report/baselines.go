package report

import (
	"io"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// BaselineRow is the baseline of one probe on one target in one epoch.
type BaselineRow struct {
	TargetID string `json:"target_id"`
	// Target is today's path, empty when the target is not here.
	Target string `json:"target,omitempty"`
	Probe  string `json:"probe"`
	// Epoch counts the target's sets of conditions for this probe, 1 the first.
	Epoch int `json:"epoch"`
	// Current marks the epoch that drift is compared with now.
	Current  bool            `json:"current"`
	Baseline record.Baseline `json:"baseline"`
	// Warnings are those about the baselines of the target, with the first of its rows.
	Warnings []record.Warning `json:"warnings,omitempty"`
}

// Baselines writes the learned baselines, a heading per target. Rows of one
// target stand together, epochs of one probe in order: each names the
// conditions it holds for, and what changed since the epoch before.
func Baselines(w io.Writer, rows []BaselineRow) error {
	var p page
	if len(rows) == 0 {
		p.line("No baseline has been learned yet.")
		return p.writeTo(w, "baselines")
	}
	g := grid{
		header: [][]string{{"probe", "epoch", "learned", "rounds", "p50", "p95", "p99", "IOPS"}},
		align:  "lllrrrrr", indent: "  ",
	}
	for i, row := range rows {
		var previous *BaselineRow
		if i > 0 {
			previous = &rows[i-1]
		}
		g.rows = append(g.rows, row.gridRow(previous))
	}
	p.grid(g)
	return p.writeTo(w, "baselines")
}

func (r BaselineRow) gridRow(previous *BaselineRow) gridRow {
	row := gridRow{cells: r.cells()}
	if previous == nil || previous.TargetID != r.TargetID {
		row.above = func(p *page) {
			p.list("", []string{r.heading()})
			p.warnings("  ", r.Warnings)
		}
	}
	row.below = func(p *page) {
		r.conditions(p, previous)
	}
	return row
}

// conditions writes what the epoch holds for, short where the row above tells most of it.
func (r BaselineRow) conditions(p *page, previous *BaselineRow) {
	conditions := r.Baseline.Conditions
	switch {
	case previous == nil || previous.TargetID != r.TargetID:
		p.list("      conditions: ", conditionsList(conditions))
	case previous.Baseline.Conditions == conditions:
		p.line("      conditions: as above")
	case previous.Probe == r.Probe:
		p.list("      changed: ", changesList(previous.Baseline.Conditions.Changes(conditions)))
	default:
		p.list("      conditions: ", conditionsList(conditions))
	}
}

func (r BaselineRow) heading() string {
	if r.Target == "" {
		return "not here now, id " + r.TargetID
	}
	return r.Target + ", id " + r.TargetID
}

func (r BaselineRow) cells() []string {
	epoch := units.Count(r.Epoch)
	if r.Current {
		epoch += " (now)"
	}
	learned := "learning"
	if !r.Baseline.Learned.IsZero() {
		learned = units.Time(r.Baseline.Learned)
	}
	if r.Baseline.Pinned {
		learned += ", pinned"
	}
	value := func(s record.Statistic) string {
		v, ok := r.Baseline.Values[s]
		if !ok {
			return none
		}
		if s == record.IOPS {
			return units.IOPS(v)
		}
		return units.Latency(seconds(v))
	}
	return []string{
		r.Probe, epoch, learned, units.Count(r.Baseline.Rounds),
		value(record.LatencyP50), value(record.LatencyP95), value(record.LatencyP99), value(record.IOPS),
	}
}
