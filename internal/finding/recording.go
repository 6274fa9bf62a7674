package finding

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// nameRecordings adds to each finding of a stall or a verdict the id of its newest
// recording.
func nameRecordings(all []Finding, s record.Snapshot) {
	for i := range all {
		f := &all[i]
		t := targetOf(f.TargetID, s)
		kind, since, recorded := f.recordedBy(t.Judged())
		if !recorded {
			continue
		}
		h, found := s.Recorder.Newest(func(by record.Trigger) bool { return by.Kind == kind && by.About(f.TargetID, t.Device.ID) })
		// A recording that ended before the event began is of another one.
		if found && !h.Until.Before(since) {
			f.Recording = h.ID
			f.Evidence = append(f.Evidence, "recorded as "+h.ID)
		}
	}
}

// recordedBy returns the trigger that records the event of a finding about a drive with a verdict, and when the event began;
// false when there is none.
func (f Finding) recordedBy(v record.Judgement) (kind record.TriggerKind, since time.Time, recorded bool) {
	switch f.Code {
	case Stalled:
		return record.TriggerStall, f.Since, true
	case Regressed, TrafficSlower, Held, HostSlower, BatchSlower:
		return record.TriggerVerdict, f.Since, true
	case IOErrors: // errors alone are not recorded, but the verdict that many of them make is
		return record.TriggerVerdict, v.Onset(record.WitnessErrors), slices.Contains(v.Witnesses, record.WitnessErrors)
	}
	return "", time.Time{}, false
}

// targetOf returns the target with an id; a zero one when there is none, as for the node.
func targetOf(id string, s record.Snapshot) record.TargetStatus {
	for _, t := range s.Targets {
		if t.ID == id {
			return t
		}
	}
	return record.TargetStatus{}
}
