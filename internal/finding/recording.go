package finding

import "github.com/ssdprobe/ssdprobe/internal/record"

// nameRecordings names with each finding of a stall or a verdict the newest recording of it.
func nameRecordings(all []Finding, s record.Snapshot) {
	for i := range all {
		f := &all[i]
		kind, recorded := recordedBy(f.Code)
		if !recorded {
			continue
		}
		h, found := s.Recorder.Newest(func(t record.Trigger) bool {
			return t.Kind == kind && t.About(f.TargetID, deviceOf(f.TargetID, s))
		})
		// One that was over before this began is of something else.
		if found && !h.Until.Before(f.Since) {
			f.Recording = h.ID
			f.Evidence = append(f.Evidence, "recorded as "+h.ID)
		}
	}
}

// recordedBy is the trigger that records what a finding is about.
func recordedBy(code string) (record.TriggerKind, bool) {
	switch code {
	case Stalled:
		return record.TriggerStall, true
	case Regressed, TrafficSlower, Held, HostSlower, BatchSlower:
		return record.TriggerVerdict, true
	}
	return "", false
}

// deviceOf is the id of the device of a target.
func deviceOf(target string, s record.Snapshot) string {
	for _, t := range s.Targets {
		if t.ID == target {
			return t.Device.ID
		}
	}
	return ""
}
