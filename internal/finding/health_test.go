package finding

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestHealthIsTheWorstFirst(t *testing.T) {
	target := func(path string, v record.DriveVerdict, ratio float64) record.TargetStatus {
		return record.TargetStatus{ID: path, Path: path, Verdict: &record.Judgement{Verdict: v, Ratio: record.Ratio{Ratio: ratio}}}
	}
	worn := target("/dev/nvme9n1", record.Healthy, 0)
	worn.Warnings = []record.Warning{{Code: record.WarnWorn, Text: "101 % used"}}
	hung, partly := target("/dev/nvme7n1", record.Healthy, 0), target("/dev/nvme11n1", record.Healthy, 0)
	hung.Probes = []record.ProbeStatus{{Last: &record.Measurement{Outcome: record.OutcomeTimeout}}}
	partly.Probes = []record.ProbeStatus{{Drift: []record.Drift{{State: record.Waiting}}}}
	s := record.Snapshot{Targets: []record.TargetStatus{
		target("/dev/nvme10n1", record.Healthy, 0), worn, {ID: "gone", Path: "gone", Problem: "no such device"},
		target("/dev/nvme2n1", record.Degraded, 1.3), target("/dev/nvme3n1", record.Degraded, 1.4), target("/dev/nvme1n1", record.Severe, 0),
		target("/dev/nvme4n1", record.Watch, 1.1), target("/dev/nvme8n1", record.Unjudged, 0), hung, partly,
	}}
	list := HealthOf(s)
	var order []string
	for _, h := range list {
		order = append(order, h.Path)
	}
	assert.Equal(t, []string{
		"/dev/nvme7n1", "/dev/nvme1n1", "/dev/nvme3n1", "/dev/nvme2n1", "gone", "/dev/nvme4n1", "/dev/nvme8n1", "/dev/nvme11n1", "/dev/nvme9n1", "/dev/nvme10n1",
	}, order)
	assert.Equal(t, "the target cannot be probed: no such device", list[4].Unjudged.String())
	assert.Equal(t, State(record.Healthy), list[8].State, "it is worn, and as fast as ever")
	assert.Equal(t, []string{record.WarnWorn}, codes(list[8].Reasons))
}
