package finding

import (
	"cmp"
	"slices"
	"time"

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
	// State is the drive's state in a word or two. Partly says why parts of it are not judged, if that is its state.
	State  State  `json:"state"`
	Partly string `json:"-"`
	record.Judgement
	// Reasons are the findings of the target, the worst first.
	Reasons []Finding `json:"reasons"`
}

// HealthOf returns the health of each drive of a node, the worst first: by state, then by how many times slower it is, then by name.
func HealthOf(s record.Snapshot) []Health {
	list := []Health{}
	all := Of(s)
	for _, t := range s.Targets {
		h := HealthOfTarget(t, s.Time)
		h.Reasons = OfTarget(all, t.ID)
		list = append(list, h)
	}
	slices.SortStableFunc(list, func(a, b Health) int {
		return cmp.Or(worse(b.State, a.State), cmp.Compare(b.Ratio.Ratio, a.Ratio.Ratio), natural.Compare(a.Path, b.Path))
	})
	return list
}

// HealthOfTarget returns the health of one target, without its findings.
func HealthOfTarget(t record.TargetStatus, now time.Time) Health {
	h := Health{
		TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Model: t.Device.Model, Firmware: t.Conditions.Firmware,
		State: stateOf(t, now), Judgement: t.Judged(),
	}
	if h.State == StatePartly {
		h.Partly = whyPartly(t)
	}
	return h
}
