package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// dry is what a run would do.
type dry struct {
	Steps    []suite.DryStep `json:"steps"`
	Expected time.Duration   `json:"expected_ns"`
	// Notes say which files would be made, used again or replaced.
	Notes []string `json:"notes,omitempty"`
	// Refused says why nothing would be run; empty when it would.
	Refused []string `json:"would_be_refused,omitempty"`
}

// dryRun prints what a suite would run on the subjects, and what would refuse it. That
// it would is no error: the question was answered.
func (a *app) dryRun(ctx context.Context, host sysfs.FS, o checked, subjects []measure.Subject, limits admit.Limits) error {
	if o.evenIfBusy {
		limits = admit.Unlimited()
	}
	foreseen, err := run.Foresee(ctx, host, subjects, run.Suite{Suite: o.plan, Values: o.values, Destroy: o.destroy, DestroyUnknownData: o.destroyData, Format: o.format}, limits)
	if err != nil {
		return refusal(err)
	}
	d := dry{Steps: foreseen.Steps, Notes: foreseen.Notes}
	for _, step := range d.Steps {
		d.Expected += step.Expected
	}
	for _, why := range foreseen.Refusals {
		d.Refused = append(d.Refused, reason(why))
	}
	return a.show(o.form, d, func(w io.Writer) error { return tell(w, "%s", d.text()) })
}

func (d dry) text() string {
	var b strings.Builder
	var optional time.Duration
	for _, step := range d.Steps {
		if step.Optional {
			optional += step.Expected
		}
		fmt.Fprintf(&b, "# %s: %s, about %s", step.Name, step.Plan, units.Span(step.Expected))
		if step.Writes != "" {
			fmt.Fprintf(&b, "; writes %s", step.Writes)
		}
		fmt.Fprintf(&b, "\n%s\n", step.JobFile)
	}
	fmt.Fprintf(&b, "# %d steps, about %s", len(d.Steps), units.Span(d.Expected))
	if optional > 0 {
		fmt.Fprintf(&b, ", of which up to %s may not be needed", units.Span(optional))
	}
	b.WriteString("\n")
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	for _, why := range d.Refused {
		fmt.Fprintf(&b, "# would be refused: %s\n", why)
	}
	return b.String()
}
