package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestAChangeThatSlowedDrivesIsOneFinding(t *testing.T) {
	since := now().Add(-48 * time.Hour)
	kernel := record.Change{Condition: "kernel", From: "6.1", To: "6.8"}
	slowed := func(id string, after time.Duration, ratio, lower float64) record.TargetStatus {
		return record.TargetStatus{
			ID: id, Path: "/dev/" + id, Device: record.Device{Name: id}, Probes: []record.ProbeStatus{{
				Probe: record.Probe{Name: "read-4k"}, Effect: &record.Effect{
					Time: since.Add(after), Changes: []record.Change{kernel}, Ratios: map[record.Statistic]record.Ratio{
						record.LatencyP50: {Ratio: ratio, Lower: lower, Upper: ratio + 0.04},
						record.LatencyP99: {Ratio: 1.5, Lower: 1.3, Upper: 1.9}, // an hour says little about it
					},
				},
			}},
		}
	}
	drives := []record.TargetStatus{
		slowed("nvme0n1", 0, 1.3, 1.27), slowed("nvme1n1", time.Minute, 1.19, 1.16), slowed("nvme2n1", time.Minute, 1.3, 0.9),
	}
	all := ofChanges(drives)
	require.Len(t, all, 1)
	assert.Equal(t, Finding{
		Severity: Warning, Code: SinceChange, TargetID: "nvme0n1", Path: "/dev/nvme0n1", Device: "nvme0n1", Since: since,
		Text:     "slower since a change of conditions, which is the baseline now",
		Evidence: []string{"read-4k p50 1.30× (1.27× to 1.34×)", "changed with it: kernel 6.1 → 6.8"}, Action: all[0].Action,
	}, all[0], "the others are hardly slower, or perhaps not")

	drives = append(drives, slowed("nvme3n1", -time.Minute, 1.4, 1.38))
	all = ofChanges(drives)
	require.Len(t, all, 1, "the same change")
	assert.Empty(t, all[0].TargetID, "it is about the node")
	assert.Equal(t, since.Add(-time.Minute), all[0].Since)
	assert.Equal(t, []string{"2 targets: nvme0n1, nvme3n1", "at most read-4k p50 1.40× (1.38× to 1.44×)", "changed with it: kernel 6.1 → 6.8"}, all[0].Evidence)

	drives[3].Probes[0].Effect.Changes = []record.Change{{Condition: "firmware", From: "A", To: "B"}}
	assert.Len(t, ofChanges(drives), 2, "two changes")
	drives[3].Probes[0].Effect.Accepted = true
	assert.Len(t, ofChanges(drives), 1)
	drives[0].Probes[0].Drift = []record.Drift{{Statistic: record.LatencyP50, State: record.Improved}}
	assert.Empty(t, ofChanges(drives), "the drive is fast again, for another reason")
}

// A later change hides no earlier one, and each can be undone or accepted by itself.
func TestEachChangeIsAFindingOfItsOwn(t *testing.T) {
	effect := func(condition string, ratio float64) record.Effect {
		return record.Effect{
			Time: now(), Changes: []record.Change{{Condition: condition, From: "A", To: "B"}},
			Ratios: map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: ratio, Lower: ratio - 0.1, Upper: ratio + 0.1}},
		}
	}
	kernel, firmware, none := effect("kernel", 1.3), effect("firmware", 1.5), effect("scheduler", 1)
	both := record.ProbeStatus{Probe: record.Probe{Name: "read-4k"}, Earlier: []record.Effect{kernel}, Effect: &firmware}
	neither := record.ProbeStatus{Probe: record.Probe{Name: "read-128k"}, Earlier: []record.Effect{kernel}, Effect: &none}
	all := ofChanges([]record.TargetStatus{
		{ID: "eui.1", Device: record.Device{Name: "nvme0n1"}, Probes: []record.ProbeStatus{both}},
		{ID: "eui.2", Device: record.Device{Name: "nvme1n1"}, Probes: []record.ProbeStatus{neither}},
	})
	require.Len(t, all, 2)
	assert.Equal(t, []string{"2 targets: nvme0n1, nvme1n1", "at most read-4k p50 1.30× (1.20× to 1.40×)", "changed with it: kernel A → B"}, all[0].Evidence)
	assert.Equal(t, "eui.1", all[1].TargetID)
	assert.Equal(t, []string{"read-4k p50 1.50× (1.40× to 1.60×)", "changed with it: firmware A → B"}, all[1].Evidence)
}
