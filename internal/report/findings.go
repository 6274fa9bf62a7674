package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// findingBlocks lists what is wrong, the worst first, and what to do about it.
func findingBlocks(all []finding.Finding, now time.Time) []document.Block {
	var blocks []document.Block
	for _, g := range finding.Groups(all) {
		var names []string
		for _, s := range g.Subjects {
			names = append(names, s.Name)
		}
		text := fmt.Sprintf("%s: %s", cmp.Or(g.Count(), names[0]), g)
		if !g.Since.IsZero() {
			text += fmt.Sprintf("; since %s, %s", units.Minute(g.Since), units.Ago(g.Since, now))
		}
		blocks = append(blocks, document.Note{Label: g.Severity.String() + ": ", Text: fmt.Sprintf("%s (%s)", text, g.Code)})
		if len(names) > 1 {
			blocks = append(blocks, document.List("    ", names...))
		}
		if g.Action != "" {
			blocks = append(blocks, document.Note{Label: "    → ", Text: g.Action})
		}
	}
	return append(blocks, document.Gap{})
}
