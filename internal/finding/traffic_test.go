package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestStalls(t *testing.T) {
	stall := func(ago, length time.Duration, cause record.StallCause) record.Stall {
		return record.Stall{Start: now().Add(-ago), Length: length, Cause: cause, InFlight: 4}
	}
	ongoing := stall(4*time.Second, 4*time.Second, record.StallByDevice)
	ongoing.Ongoing = true
	for name, c := range map[string]struct {
		stalls   []record.Stall
		severity Severity
		text     string // empty for no finding
	}{
		"none": {},
		"a single second": {
			stalls: []record.Stall{stall(time.Minute, time.Second, record.StallByDevice)},
		},
		"explained": {
			stalls: []record.Stall{
				stall(time.Minute, 20*time.Second, record.StallByDiscard), stall(time.Minute, 20*time.Second, record.StallByReset),
				stall(time.Minute, 20*time.Second, record.StallBySuspended), stall(time.Minute, 20*time.Second, record.StallByRun),
			},
		},
		"one": {
			[]record.Stall{stall(time.Minute, 1998*time.Millisecond, record.StallByDevice)}, Warning,
			"the device stalled: no I/O completed for 2 s from 13:01:11 UTC on, with 4 in flight",
		},
		"two": {
			[]record.Stall{stall(2*time.Minute, 9*time.Second, record.StallByDevice), stall(time.Minute, 3*time.Second, record.StallByDevice)}, Warning,
			"the device stalled: no I/O completed for 3 s from 13:01:11 UTC on, with 4 in flight, " +
				"the longest in the last hour: no I/O completed for 9 s from 13:00:11 UTC on, with 4 in flight, 2 stalls in the last hour",
		},
		"it goes on": {
			[]record.Stall{ongoing}, Warning, "the device stalls: no I/O has completed for 4 s from 13:02:07 UTC on, with 4 in flight",
		},
		"long": {
			[]record.Stall{stall(time.Minute, 10*time.Second, record.StallByDevice)}, Critical,
			"the device stalled: no I/O completed for 10 s from 13:01:11 UTC on, with 4 in flight",
		},
		"many": {
			[]record.Stall{
				stall(3*time.Minute, 2*time.Second, record.StallByDevice), stall(2*time.Minute, 2*time.Second, record.StallByDevice),
				stall(time.Minute, 2*time.Second, record.StallByDevice),
			}, Critical,
			"the device stalled: no I/O completed for 2 s from 13:01:11 UTC on, with 4 in flight, 3 stalls in the last hour",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(sound())
			s.Targets[0].Traffic = &record.TrafficStatus{Stalls: c.stalls}
			all := Of(s)
			if c.text == "" {
				assert.Empty(t, all)
				return
			}
			require.Len(t, all, 1)
			assert.Equal(t, c.text, all[0].String())
			assert.Equal(t, Stalled, all[0].Code)
			assert.Equal(t, c.severity, all[0].Severity)
			for _, stall := range c.stalls {
				if stall.Telling() {
					assert.Equal(t, stall.Start, all[0].Since)
					break
				}
			}
		})
	}
}

func TestAStallOfADeviceIsToldOnce(t *testing.T) {
	status := &record.TrafficStatus{Stalls: []record.Stall{{Start: now(), Length: 3 * time.Second, Cause: record.StallByDevice, InFlight: 1}}}
	drive := record.TargetStatus{ID: "a", Device: record.Device{Number: "259:0"}, Traffic: status}
	file := record.TargetStatus{ID: "file:/srv", Device: record.Device{Number: "259:0"}, Traffic: status}
	other := record.TargetStatus{ID: "b", Device: record.Device{Number: "259:1"}, Traffic: status}
	var of []string
	for _, f := range Of(record.Snapshot{Targets: []record.TargetStatus{drive, file, other}}) {
		if f.Code == Stalled {
			of = append(of, f.TargetID)
		}
	}
	assert.Equal(t, []string{"a", "b"}, of)
}
