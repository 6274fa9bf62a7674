package finding

import "github.com/ssdprobe/ssdprobe/internal/record"

// nameRecordings adds to each finding of a stall or a verdict the id of its newest
// recording.
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
		// A recording that ended before the finding began is of another event.
		if found && !h.Until.Before(f.Since) {
			f.Recording = h.ID
			f.Evidence = append(f.Evidence, "recorded as "+h.ID)
		}
	}
}

// recordedBy returns the trigger that records the event of a finding; false when there is
// none.
func recordedBy(code string) (record.TriggerKind, bool) {
	switch code {
	case Stalled:
		return record.TriggerStall, true
	case Regressed, TrafficSlower, Held, HostSlower, BatchSlower:
		return record.TriggerVerdict, true
	}
	return "", false
}

// deviceOf returns the id of a target's device.
func deviceOf(target string, s record.Snapshot) string {
	for _, t := range s.Targets {
		if t.ID == target {
			return t.Device.ID
		}
	}
	return ""
}
