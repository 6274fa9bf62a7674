package web

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// mostRecordings is how many of the newest recordings the page lists for a target.
const mostRecordings = 5

// recordingView is a recording in a list. The recording's own page has the plots.
type recordingView struct {
	ID string
	At *moment
	// Left says how long it still takes; empty once it is finished and has a page.
	Left string
	// Why lists the triggers about the target.
	Why []string
}

// newRecordingViews lists the newest recordings that a target triggered, newest first, with those that are being made.
// Without a target, it lists those about the node.
func newRecordingViews(s *record.RecorderStatus, targetID, deviceID string, now time.Time) (views []recordingView) {
	if s == nil {
		return nil
	}
	for i, h := range slices.Backward(slices.Concat(s.Recordings, s.Unfinished)) {
		v := recordingView{ID: h.ID}
		if i >= len(s.Recordings) {
			v.Left = report.TimeLeft(h, now)
		}
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
