package daemon

import (
	"log/slog"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// spec says what a watch watches and how. A watch whose spec changes is replaced. It includes the device number and
// size of the target, so that a device that returns with another number or size is opened again.
type spec struct {
	measure.Target
	// LockID is the id of the device that receives the I/O; for files, the device below.
	LockID string
	// Unresolved is true when the target has not answered yet, so that its location is not known. It is shown, but
	// not opened.
	Unresolved bool
	Probes     []record.Probe
	Admission  config.Admission
	Drift      drift.Settings
	Quiet      config.QuietHours
}

// target is what the parts of a watch share: what is watched, and the means. Nothing of it changes.
type target struct {
	spec   spec
	shared *shared
	access *access
	log    *slog.Logger
}

// ours tells the sampler that our own I/O follows, until over is called; see access.ours.
func (t *target) ours() (others *record.Work, over func()) {
	return t.access.ours(func() (*record.Work, func()) { return t.shared.traffic.Begin(t.spec.Number) })
}
