package measure

import "github.com/ssdprobe/ssdprobe/internal/record"

// CheckLink calls a good round disturbed when its figures are beyond what the device's
// link can carry: something else than the drive was measured, so that the round must
// not become part of a baseline. A device without a link passes.
func CheckLink(m *record.Measurement, p record.Probe, link *record.PCIeLink) {
	if link == nil || m.Outcome != record.OutcomeOK {
		return
	}
	w, bad := link.Impossible(m.IOPS()*float64(p.BlockBytes), p.BlockBytes, m.Latency.Quantile(0.5))
	if bad {
		m.Outcome, m.Reason = record.OutcomeDisturbed, w.Text
		m.Warnings = append(m.Warnings, w)
	}
}
