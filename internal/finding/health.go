package finding

import (
	"cmp"
	"slices"

	"github.com/maruel/natural"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Health is the verdict on a drive, on its speed and on whether it answers, with all other findings of the drive. A
// worn drive that is fast is healthy, with the finding "worn".
type Health struct {
	TargetID string `json:"target_id"`
	Path     string `json:"path"`
	Device   string `json:"device,omitempty"`
	Model    string `json:"model,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	record.Judgement
	// Reasons are the findings of the target, the worst first.
	Reasons []Finding `json:"reasons"`
}

// HealthOf returns the health of each drive of a node, the worst first: by verdict, then by how many times slower it
// is, then by name. Drives that are not judged come before healthy ones.
func HealthOf(s record.Snapshot) []Health {
	list := []Health{}
	all := Of(s)
	for _, t := range s.Targets {
		h := Health{
			TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Model: t.Device.Model, Firmware: t.Conditions.Firmware,
			Judgement: t.Judged(), Reasons: OfTarget(all, t.ID),
		}
		list = append(list, h)
	}
	slices.SortStableFunc(list, func(a, b Health) int {
		return cmp.Or(
			cmp.Compare(b.Verdict.Badness(), a.Verdict.Badness()), cmp.Compare(b.Ratio.Ratio, a.Ratio.Ratio), natural.Compare(a.Path, b.Path),
		)
	})
	return list
}
