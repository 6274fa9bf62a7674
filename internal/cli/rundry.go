package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// dry describes what a run would do.
type dry struct {
	Steps    []suite.DryStep `json:"steps"`
	Expected time.Duration   `json:"expected_ns"`
	// Notes say which files would be created, used again or replaced.
	Notes []string `json:"notes,omitempty"`
	// Refused says why the run would be refused; empty when it would run.
	Refused []string `json:"would_be_refused,omitempty"`
}

// dryRun prints what a suite would run on the subjects, and what would refuse it. It returns the same error as
// the run would: that of the first refusal.
func (a *app) dryRun(ctx context.Context, host sysfs.FS, o checked, subjects []measure.Subject, limits admit.Limits) error {
	if o.evenIfBusy {
		limits = admit.Unlimited()
	}
	binary, missing := fiorun.Find(ctx)
	foreseen, err := run.Foresee(ctx, host, subjects, run.Suite{Suite: o.plan, Fio: binary, Values: o.values, Destroy: o.destroy, DestroyUnknownData: o.destroyData, Format: o.format}, limits)
	if missing != nil {
		foreseen.Refusals = append([]error{missing}, foreseen.Refusals...)
	}
	if err != nil {
		return refusal(append(foreseen.Refusals, err)[0])
	}
	d := dry{Steps: foreseen.Steps, Notes: foreseen.Notes}
	for _, step := range d.Steps {
		d.Expected += step.Expected
	}
	for _, why := range foreseen.Refusals {
		d.Refused = append(d.Refused, reason(why))
	}
	if err := a.show(o.form, d, func(w io.Writer) error { return tell(w, "%s", d.text()) }); err != nil || len(d.Refused) == 0 {
		return err
	}
	return refusal(foreseen.Refusals[0])
}

// text begins with the sum and with what would refuse the run. Each job is shown once, however often it is
// repeated.
func (d dry) text() string {
	var b strings.Builder
	var optional time.Duration
	repeats := map[string]int{}
	for _, step := range d.Steps {
		if step.Optional {
			optional += step.Expected
		}
		repeats[step.Series]++
	}
	fmt.Fprintf(&b, "# %s, %s", units.Plural(len(d.Steps), "step"), takes(d.Expected))
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
	shown := map[string]bool{}
	for _, step := range d.Steps {
		times := ""
		if step.Series != "" {
			if shown[step.Series] {
				continue
			}
			shown[step.Series] = true
			if n := repeats[step.Series]; n > 1 {
				times = fmt.Sprintf(", %d times", n)
			}
		}
		fmt.Fprintf(&b, "\n# %s: %s, %s%s", step.Name, step.Plan, takes(step.Expected), times)
		if step.Writes != "" {
			fmt.Fprintf(&b, "; writes %s", step.Writes)
		}
		fmt.Fprintf(&b, "\n%s", step.JobFile)
	}
	return b.String()
}

// takes says how long steps take. Only a job file of the user, without a run time, leaves that open.
func takes(expected time.Duration) string {
	if expected == 0 {
		return "as long as the job takes"
	}
	return "about " + units.Span(expected)
}
