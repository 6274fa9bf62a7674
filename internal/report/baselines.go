package report

import (
	"fmt"
	"io"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// BaselineRow is the baseline of one probe on one target in one epoch.
type BaselineRow struct {
	TargetID string `json:"target_id"`
	// Target is the present path; empty when the target is not on this machine.
	Target string `json:"target,omitempty"`
	Probe  string `json:"probe"`
	// Epoch counts the target's sets of conditions for this probe, from 1.
	Epoch int `json:"epoch"`
	// Current marks the epoch that drift is compared with now.
	Current  bool            `json:"current"`
	Baseline record.Baseline `json:"baseline"`
	// Warnings are about the baselines of the target. Only the target's first row has
	// them.
	Warnings []record.Warning `json:"warnings,omitempty"`
}

// Baselines writes the learned baselines, under a heading per target. Rows of one target
// must be adjacent, and epochs of one probe in order. Each row names the conditions it is
// valid for, and what changed since the epoch before.
func Baselines(w io.Writer, rows []BaselineRow) error {
	if len(rows) == 0 {
		return text.Write(w, "baselines", document.Sentence("No baseline has been learned yet."))
	}
	t := document.Table{Names: []string{"probe", "epoch", "learned", "rounds", "p50", "p95", "p99", "IOPS"}, Align: "lllrrrrr"}
	for i, row := range rows {
		r := t.Add(row.cells()...)
		if i == 0 || rows[i-1].TargetID != row.TargetID {
			r.Group = &document.Group{Name: row.heading(), Notes: []document.Block{document.Warnings(row.Warnings)}}
			r.Notes = []document.Block{document.List("conditions: ", conditionsList(row.Baseline.Conditions)...)}
		} else {
			r.Notes = []document.Block{row.changed(rows[i-1])}
		}
	}
	return text.Write(w, "baselines", t)
}

// changed describes the conditions of the epoch, and only the difference when the row
// above has most of them.
func (r BaselineRow) changed(previous BaselineRow) document.Note {
	conditions, before := r.Baseline.Conditions, previous.Baseline.Conditions
	switch {
	case before == conditions:
		return document.Sentence("conditions: as above")
	case previous.Probe == r.Probe:
		return document.List("changed: ", record.ChangeTexts(before.Changes(conditions))...)
	default:
		return document.List("conditions: ", conditionsList(conditions)...)
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
		learned = units.Minute(r.Baseline.Learned)
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

// SavedRuns writes the names of the runs with which later ones are compared.
func SavedRuns(w io.Writer, runs []record.RunReport) error {
	var saved []document.Block
	for _, r := range runs {
		saved = append(saved, document.Sentence(fmt.Sprintf("Saved run of %s on %s, %s, by %s.", r.Suite, r.Target, units.Minute(r.Started), r.Generator)))
	}
	return text.Write(w, "saved runs", saved...)
}
