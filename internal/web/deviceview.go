package web

import (
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// devicePage is the data for the template of a target's page.
type devicePage struct {
	frame
	Target targetView
	Past   pastView
}

// newDevicePage returns the page of a target, with its explanation and its history over a span.
func newDevicePage(
	s record.Snapshot, t record.TargetStatus, x report.Explained, past *history.History, span history.Span, version string,
) devicePage {
	v := devicePage{Target: newTargetView(s, t)}
	v.frame = newFrame(s, v.Target.State.Text+": "+t.Path, version)
	v.Target.addPlots(x)
	if past != nil {
		v.Past = newPastView(t, past, span, s.Time)
	}
	return v
}
