package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// RecordingList lists recordings, the oldest first.
type RecordingList struct {
	Recordings []record.RecordingHead `json:"recordings"`
	// Unfinished lists those that the daemon is making.
	Unfinished []record.RecordingHead `json:"unfinished"`
}

// Recordings writes a table of recordings, the newest first, with those that are being made at the top.
func Recordings(w io.Writer, list RecordingList, now time.Time) error {
	if len(list.Recordings)+len(list.Unfinished) == 0 {
		return text.Write(w, "recordings", document.Sentence("There is no recording. The flight recorder writes one when a device stalls, when a verdict becomes degraded or severe, and for ssdprobe record now; recorder.enabled: false turns it off."))
	}
	t := document.Table{Names: []string{"id", "when", "of", "trigger", "length", "size"}, Align: "lllllr"}
	add := func(h record.RecordingHead, length, size string) {
		t.Add(h.ID, units.Ago(h.Triggers[0].Time, now), strings.Join(concerned(h), ", "), strings.Join(kinds(h), ", "), length, size)
	}
	for _, h := range slices.Backward(list.Unfinished) {
		add(h, TimeLeft(h, now), "-")
	}
	for _, h := range slices.Backward(list.Recordings) {
		add(h, units.Span(h.Until.Sub(h.From)), units.Size(h.Bytes))
	}
	return text.Write(w, "recordings", t)
}

// TimeLeft says how long a recording still takes that is being made: "not finished, 40 s left".
func TimeLeft(h record.RecordingHead, now time.Time) string {
	return "not finished, " + units.Span(max(0, h.Until.Sub(now))) + " left"
}

// NotFinished says when the recording with an id will be finished; empty if it is not being made.
func NotFinished(making []record.RecordingHead, id string) string {
	i := slices.IndexFunc(making, func(h record.RecordingHead) bool { return h.ID == id })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("recording %s is not finished; it will be at %s", id, units.UTC(making[i].Until))
}

// concerned returns the names of the devices that triggered a recording, in the order of the
// triggers.
func concerned(h record.RecordingHead) (names []string) {
	for _, t := range h.Triggers {
		if name := subject(t); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// subject returns what a trigger is about.
func subject(t record.Trigger) string {
	switch {
	case t.Device != "":
		return t.Device
	case t.TargetID != "":
		return t.TargetID
	}
	return "the node"
}

func kinds(h record.RecordingHead) (all []string) {
	for _, t := range h.Triggers {
		if kind := string(t.Kind); !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}
