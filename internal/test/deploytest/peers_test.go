package deploytest

import (
	"fmt"
	"strings"
	"testing"
)

// If up to three in ten drives are slow, exactly those raise alerts.
func TestSlowDrivesInFleetsOfAllSizes(t *testing.T) {
	for _, c := range []struct{ slow, drives int }{{1, 4}, {1, 5}, {2, 5}, {1, 20}, {2, 20}, {4, 100}, {6, 100}, {30, 100}} {
		t.Run(fmt.Sprintf("%d of %d", c.slow, c.drives), func(t *testing.T) {
			t.Parallel()
			fleet := simulatedFleet(c.drives)
			slow := fleet[c.drives-c.slow:]
			for _, d := range slow {
				d.by(2)
			}
			raises(t, fleet, alerts(slow)...)
		})
	}
}

// With three drives it is impossible to say which one is right.
func TestFewDrivesAreNoPeers(t *testing.T) {
	for drives := 1; drives <= 3; drives++ {
		t.Run(fmt.Sprint(drives), func(t *testing.T) {
			t.Parallel()
			fleet := simulatedFleet(drives)
			fleet[0].by(3)
			raises(t, fleet)
		})
	}
}

// A slow firmware is one finding about the firmware, and does not hide a slow drive.
func TestTwoFirmwaresOfAModel(t *testing.T) {
	firmwares := func(drives, other int, slower float64) []*simulated {
		fleet := simulatedFleet(drives)
		for _, d := range fleet[drives-other:] {
			d.firmware = "B"
			d.by(slower)
		}
		return fleet
	}
	t.Run("half of the fleet", func(t *testing.T) {
		t.Parallel()
		raises(t, firmwares(40, 20, 1.5), slowFirmware)
	})
	t.Run("most of the fleet", func(t *testing.T) {
		t.Parallel()
		raises(t, firmwares(40, 34, 1.5), slowFirmware)
	})
	t.Run("and a slow drive of each", func(t *testing.T) {
		t.Parallel()
		fleet := firmwares(40, 20, 1.5)
		fleet[3].by(2)
		fleet[33].by(2)
		raises(t, fleet, slowFirmware, fleet[3].alert(), fleet[33].alert())
	})
	t.Run("alike", func(t *testing.T) {
		t.Parallel()
		raises(t, firmwares(40, 20, 1))
	})
	t.Run("too few drives to tell a firmware from its drives", func(t *testing.T) {
		t.Parallel()
		fleet := firmwares(40, 2, 1.5)
		raises(t, fleet, alerts(fleet[38:])...)
	})
}

// A node that slows all its drives is one finding about the node.
func TestANodeWhoseDrivesAreAllSlow(t *testing.T) {
	slowNode := func(drives int, slower float64) (fleet, slow []*simulated) {
		fleet = simulatedFleet(drives)
		for _, d := range fleet {
			if d.node == "stor-03" {
				d.by(slower)
				slow = append(slow, d)
			}
		}
		return fleet, slow
	}
	const node = `{alertname="SsdprobeNodeSlowerThanPeers",instance="stor-03"}`
	t.Run("ten drives", func(t *testing.T) {
		t.Parallel()
		fleet, _ := slowNode(100, 1.6)
		raises(t, fleet, node)
	})
	t.Run("and one that is slow by itself", func(t *testing.T) {
		t.Parallel()
		fleet, slow := slowNode(100, 1.6)
		slow[4].by(2)
		raises(t, fleet, node, slow[4].alert())
		said := "nvme0n1 (eui.043, PM9A3) on stor-03 has been slower than the median of its peers for more than six hours, by more than such drives differ: "
		for _, statistic := range []string{"iops", "latency_p50_seconds", "latency_p95_seconds", "latency_p99_seconds"} {
			said += statistic + " of probe read-4k 3.24 times (1.70 times without what its node and known changes explain). "
		}
		slow[4].says(t, fleet, said+"100 drives with its firmware are compared.")
	})
	t.Run("that the node has found itself", func(t *testing.T) {
		t.Parallel()
		fleet, slow := slowNode(100, 1.6)
		slow[0].hostDegraded = true
		raises(t, fleet, `{alertname="SsdprobeHostSlower",instance="stor-03"}`)
	})
	t.Run("two drives make no node", func(t *testing.T) {
		t.Parallel()
		fleet, slow := slowNode(20, 1.6)
		raises(t, fleet, alerts(slow)...)
	})
	t.Run("half of its drives", func(t *testing.T) {
		t.Parallel()
		fleet, slow := slowNode(100, 1)
		for _, d := range slow[:5] {
			d.by(1.6)
		}
		raises(t, fleet, alerts(slow[:5])...)
	})
	for _, c := range []struct{ slow, drives int }{{2, 3}, {3, 4}, {7, 8}} {
		t.Run(fmt.Sprintf("%d of its %d drives", c.slow, c.drives), func(t *testing.T) {
			t.Parallel()
			fleet, slow := slowNode(10*c.drives, 1)
			for _, d := range slow[:c.slow] {
				d.by(2)
			}
			raises(t, fleet, alerts(slow[:c.slow])...)
		})
	}
}

// Another version of the engine may measure differently, so drives are only compared within the same version.
func TestVersionsOfTheEngine(t *testing.T) {
	// upgraded moves drives to version 2, which measures differently from then on.
	upgraded := func(differs float64, when func(i int, d *simulated) (hour int)) []*simulated {
		fleet := simulatedFleet(40)
		for i, d := range fleet {
			if hour := when(i, d); hour > 0 {
				d.upgraded, d.engine[1], d.slower[1] = hour, "2", d.slower[1]*differs
			}
		}
		return fleet
	}
	upgrades := map[string]func(i int, d *simulated) int{
		"all":  func(int, *simulated) int { return 4 },
		"half": func(_ int, d *simulated) int { return 4 * int(d.node[len(d.node)-1]%2) },
		"one node": func(_ int, d *simulated) int {
			if d.node == "stor-03" {
				return 4
			}
			return 0
		},
		"node by node": func(_ int, d *simulated) int { return 1 + int(d.node[len(d.node)-1]-'0') },
	}
	for name, when := range upgrades {
		for _, differs := range []float64{1.6, 1 / 1.6} {
			t.Run(fmt.Sprintf("%s, %.2f", name, differs), func(t *testing.T) {
				t.Parallel()
				raises(t, upgraded(differs, when))
			})
		}
	}
	t.Run("half, from builds that do not say their engine", func(t *testing.T) {
		t.Parallel()
		fleet := upgraded(1/1.6, upgrades["half"])
		for _, d := range fleet {
			d.engine[0] = ""
		}
		raises(t, fleet)
	})
	t.Run("mixed for ever, and two slow drives", func(t *testing.T) {
		t.Parallel()
		fleet := simulatedFleet(40)
		for i, d := range fleet {
			if i%10 < 5 {
				d.engine[0] = "2"
				d.by(1.6)
			}
		}
		fleet[1].by(2)
		fleet[6].by(2)
		raises(t, fleet, fleet[1].alert(), fleet[6].alert())
	})
}

// A drive has only one alert: that of its node, which says since when and why.
func TestADriveThatItsNodeHasFound(t *testing.T) {
	fleet := simulatedFleet(20)
	fleet[7].by(2)
	fleet[8].by(2)
	fleet[8].degraded = true
	raises(t, fleet, fleet[7].alert(), strings.Replace(fleet[8].alert(), "SlowerThanPeers", "Degraded", 1))
}

// Volumes of a cloud share a model and a size, but differ by design.
func TestVolumesAreNoPeers(t *testing.T) {
	fleet := simulatedFleet(20)
	for _, d := range fleet {
		d.model = "Amazon Elastic Block Store"
	}
	fleet[3].by(2)
	raises(t, fleet)
}
