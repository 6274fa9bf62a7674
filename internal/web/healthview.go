package web

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
)

// healthView is what one controller, or a SATA or SAS drive, reports about itself.
type healthView struct {
	Name  string
	Facts document.Facts
	// Read is when it was read; nil when it never was.
	Read *moment
}

func newHealthViews(controllers []record.Controller, now time.Time) []healthView {
	var views []healthView
	for _, c := range controllers {
		if facts := report.HealthFacts(c).Main(); len(facts) > 0 {
			views = append(views, healthView{Name: c.Name, Facts: facts, Read: at(c.LastRead, now)})
		}
	}
	return views
}
