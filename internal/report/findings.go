package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// findings writes what is wrong, the worst first, and what to do about it.
func (p *page) findings(all []finding.Finding, now time.Time) {
	for _, g := range finding.Groups(all) {
		var names []string
		for _, s := range g.Subjects {
			names = append(names, s.Name)
		}
		text := fmt.Sprintf("%s: %s", strings.Join(names, ", "), g)
		if !g.Since.IsZero() {
			text += fmt.Sprintf("; since %s, %s", units.Time(g.Since), units.Ago(g.Since, now))
		}
		p.sentence(g.Severity.String()+": ", fmt.Sprintf("%s (%s)", text, g.Code))
		if g.Action != "" {
			p.sentence("    → ", g.Action)
		}
	}
	if len(all) > 0 {
		p.blank()
	}
}
