package web

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// mostRecordings is how many of the newest recordings the page lists for a target.
const mostRecordings = 5

// recordingView is a recording in a list. The recording's own page has the plots.
type recordingView struct {
	ID string
	At *moment
	// Why lists the triggers about the target.
	Why []string
}

// newRecordingViews lists the newest recordings that a target triggered, newest first. Without a target, it lists
// those about the node.
func newRecordingViews(s *record.RecorderStatus, targetID, deviceID string, now time.Time) (views []recordingView) {
	if s == nil {
		return nil
	}
	for _, h := range slices.Backward(s.Recordings) {
		v := recordingView{ID: h.ID}
		for _, t := range h.Triggers {
			if !t.About(targetID, deviceID) {
				continue
			}
			if v.At == nil {
				v.At = at(t.Time, now)
			}
			v.Why = append(v.Why, string(t.Kind)+": "+t.Text)
		}
		if v.At != nil && len(views) < mostRecordings {
			views = append(views, v)
		}
	}
	return views
}
