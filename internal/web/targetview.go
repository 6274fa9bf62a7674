package web

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// targetView is everything the page shows about a target.
type targetView struct {
	Path, ID string
	// Identity fully identifies the drive.
	Identity string
	State    badge
	// Detail is the evidence for the verdict.
	Detail     string
	Findings   []findingView // about the target as a whole
	Probes     []probeView
	Runs       []runView
	Conditions []conditionView
	// Health has what each controller of the device reports.
	Health []healthView
	// Recordings are the recordings about the target.
	Recordings []recordingView
	// Written says how much of a raw device can be measured. Cost says how many bytes ssdprobe itself has
	// transferred.
	Written, Cost string
}

type conditionView struct {
	Name, Value string
	Changed     *moment
	// Recent marks a change of the last day.
	Recent bool
}

func newTargetView(s record.Snapshot, t record.TargetStatus) targetView {
	now, found := s.Time, finding.OfTarget(finding.Of(s), t.ID)
	v := targetView{
		Path: t.Path, Identity: onDevice(t, identity(t.Device)), ID: t.ID, State: newBadge(finding.HealthOfTarget(t, now).State), Detail: evidence(t.Judged(), now),
		Findings: newFindingViews(ofProbe(found, ""), now), Runs: newRunViews(t.Runs, now),
		Health: newHealthViews(s.ControllersOf(t.Device.ID), now), Recordings: newRecordingViews(s.Recorder, t.ID, t.Device.ID, now),
	}
	var read, written uint64
	for _, p := range t.Probes {
		read, written = read+p.ReadBytes, written+p.WrittenBytes
		probe := newProbeView(p, t.Problem != "", t.HeldBack(&p) != nil, now)
		probe.Findings = newFindingViews(ofProbe(found, p.Probe.Name), now)
		v.Probes = append(v.Probes, probe)
	}
	v.Cost = fmt.Sprintf("ssdprobe itself has read %s and written %s here since it started",
		units.DriveSize(int64(read)), units.DriveSize(int64(written)))
	if t.WrittenRatio != nil {
		v.Written = fmt.Sprintf("%s of the sampled blocks hold written data; %s written blocks are known",
			units.Percent(*t.WrittenRatio), keep(units.Count(t.PoolBlocks)))
	}
	for _, c := range t.Conditions.List() {
		changed := t.Changed[c.Name]
		if c.Value == "" && changed.IsZero() {
			continue
		}
		if c.Value == "" {
			c.Value = "unknown"
		}
		v.Conditions = append(v.Conditions, conditionView{
			Name: record.ConditionTitle(c.Name), Value: c.Value, Changed: at(changed, now),
			Recent: !changed.IsZero() && now.Sub(changed) < 24*time.Hour,
		})
	}
	return v
}
