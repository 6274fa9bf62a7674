package deploytest

import (
	"fmt"
	"testing"
)

const (
	kernel        = `condition="kernel",from="6.1",to="6.8"`
	slowedByIt    = `{alertname="SsdprobeChangeSlowedDrives",` + kernel + `}`
	firmware      = `condition="firmware",from="A",to="B"`
	slowedByThat  = `{alertname="SsdprobeChangeSlowedDrives",` + firmware + `}`
	slowFirmware  = `{alertname="SsdprobeFirmwareSlower",model="PM9A3",firmware="B"}`
	engineChanged = `condition="engine",from="ssdprobe-1",to="ssdprobe-2"`
)

// The effect of a change of conditions on many drives is one finding about the change.
func TestAChangeThatMakesDrivesSlower(t *testing.T) {
	// changed returns a fleet in which the given number of drives have a new kernel.
	changed := func(drives, changed int, factor float64) []*simulated {
		fleet := simulatedFleet(drives)
		for _, d := range fleet[:changed] {
			d.change(factor, kernel)
		}
		return fleet
	}
	for _, c := range []struct{ drives, changed int }{{40, 5}, {40, 8}, {40, 20}, {40, 32}, {40, 40}} {
		t.Run(fmt.Sprintf("%d of %d", c.changed, c.drives), func(t *testing.T) {
			t.Parallel()
			raises(t, changed(c.drives, c.changed, 1.3), slowedByIt)
		})
	}
	t.Run("and two that are slow by themselves", func(t *testing.T) {
		t.Parallel()
		fleet := changed(40, 10, 1.3)
		fleet[4].by(2)
		fleet[14].by(2)
		raises(t, fleet, slowedByIt, fleet[4].alert(), fleet[14].alert())
	})
	t.Run("all drives of some nodes", func(t *testing.T) {
		t.Parallel()
		fleet := simulatedFleet(60)
		for i, d := range fleet {
			if i%10 < 3 {
				d.change(1.4, kernel)
			}
		}
		raises(t, fleet, slowedByIt)
	})
	t.Run("four drives are too few", func(t *testing.T) {
		t.Parallel()
		fleet := changed(40, 4, 1.4)
		raises(t, fleet, alerts(fleet[:4])...)
	})
	t.Run("no effect", func(t *testing.T) {
		t.Parallel()
		raises(t, changed(40, 20, 1.05))
	})
	t.Run("one of two models", func(t *testing.T) {
		t.Parallel()
		fleet := changed(40, 40, 1)
		for i, d := range fleet {
			if i < 15 {
				d.model = "P5510"
				d.change(1.3, kernel)
			}
		}
		raises(t, fleet, slowedByIt)
	})
	t.Run("a firmware", func(t *testing.T) {
		t.Parallel()
		fleet := simulatedFleet(40)
		for _, d := range fleet[:20] {
			d.firmware = "B"
			d.change(1.5, firmware)
		}
		raises(t, fleet, slowedByThat)
		for _, d := range fleet[:20] { // the alert about the change has ended; the firmware is as slow as before
			d.changedAt = -7 * 24 * 3600
		}
		raises(t, fleet, slowFirmware)
	})
	t.Run("another engine, and a kernel with it", func(t *testing.T) {
		t.Parallel()
		fleet := simulatedFleet(40)
		for _, d := range fleet {
			if d.node < "stor-05" {
				d.change(1.5, kernel, engineChanged)
				d.engine[0] = "2"
			}
		}
		raises(t, fleet)
	})
}
