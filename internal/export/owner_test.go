package export_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// counted returns the ids of the targets that have the kernel's counts of a device, by family.
func counted(t *testing.T, s record.Snapshot, device string) map[string][]string {
	t.Helper()
	ids := map[string][]string{}
	for _, f := range gather(t, s, export.NewLatencies()) {
		name := f.GetName()
		if !strings.HasPrefix(name, "ssdprobe_traffic_") && !strings.HasPrefix(name, "ssdprobe_device_stall") && !strings.HasPrefix(name, "ssdprobe_io_latency_") {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, id := range []string{recordtest.HealthyID, recordtest.FileID, "file:/srv/b"} {
				if labelled(m, "device", device) && labelled(m, "id", id) {
					ids[name] = append(ids[name], id)
				}
			}
		}
	}
	return ids
}

// The kernel counts for a device, whatever probes it. A sum over targets would have the I/O of applications twice.
func TestTheKernelsCountsOfADeviceAreExportedOnce(t *testing.T) {
	s := recordtest.Snapshot()
	device, file := s.Targets[0], s.Targets[2]
	file.IOLatency = device.IOLatency
	other := file
	other.ID = "file:/srv/b"
	for owner, targets := range map[string][]record.TargetStatus{
		recordtest.HealthyID: {other, file, device},
		recordtest.FileID:    {file, other},
		"file:/srv/b":        {other, file},
	} {
		s.Targets = targets
		found := counted(t, s, device.Device.Name)
		assert.Len(t, found, 9)
		for family, ids := range found {
			for _, id := range ids {
				assert.Equal(t, owner, id, family)
			}
		}
	}
	other.Device.Name, other.Device.Number = "nvme0n1p1", "259:1"
	s.Targets = []record.TargetStatus{file, other}
	assert.Len(t, counted(t, s, "nvme0n1p1"), 9, "a partition has counts of its own")
}
