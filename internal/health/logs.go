package health

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// selfTests reads the log of the drive's self-tests. It starts none.
func selfTests(d *nvme.Device, h *record.Health) error {
	log, err := d.SelfTests()
	if err != nil {
		return err
	}
	h.SelfTests = []record.SelfTest{}
	for _, r := range log.Results {
		t := record.SelfTest{
			Kind: r.Kind.String(), Outcome: r.Outcome.String(), Failed: r.Outcome.Failed(),
			PowerOn: span(nvme.Uint128{Low: r.PowerOnHours}.Times(3600)),
			Segment: r.Segment, FailingLBA: r.FailingLBA,
		}
		if id := r.NamespaceID; id != nil && *id != nvme.AllNamespaces {
			t.NamespaceID = id
		}
		h.SelfTests = append(h.SelfTests, t)
	}
	return nil
}

// mediaDies reads how many dies of the media are offline from the OCP log.
func mediaDies(d *nvme.Device, h *record.Health) error {
	log, err := d.OCPSMART()
	if err != nil {
		return err
	}
	// A drive that does not count them leaves all at 0.
	if dies := log.MediaDies; dies != nil && dies.Total > 0 && dies.Offline <= dies.Total {
		h.MediaDies = &record.MediaDies{Total: dies.Total, Tolerated: dies.TolerableFailures, Offline: dies.Offline}
	}
	return nil
}

// selfTestWarnings describes a failed self-test that stands.
func selfTestWarnings(h record.Health) []record.Warning {
	failed := h.FailedSelfTest()
	if failed == nil {
		return nil
	}
	text := failed.String()
	if age := h.OperationSince(*failed); age > 0 {
		text += fmt.Sprintf(", %s of operation ago", units.Span(age))
	}
	return []record.Warning{{Code: record.WarnSelfTestFailed, Text: text + "; no later one as thorough has passed"}}
}

// mediaDiesWarnings describes dies that are offline.
func mediaDiesWarnings(h record.Health) []record.Warning {
	d := h.MediaDies
	if d == nil || d.Offline == 0 {
		return nil
	}
	are := "are"
	if d.Offline == 1 {
		are = "is"
	}
	text := fmt.Sprintf("%d of %d media dies %s offline", d.Offline, d.Total, are)
	if d.Offline > d.Tolerated {
		return []record.Warning{{
			Code: record.WarnDriveCritical,
			Text: fmt.Sprintf("%s, and the drive tolerates only %d: data may be lost; copy what is on it, and replace it", text, d.Tolerated),
		}}
	}
	return []record.Warning{{Code: record.WarnDiesOffline, Text: fmt.Sprintf("%s; the drive tolerates up to %d", text, d.Tolerated)}}
}
