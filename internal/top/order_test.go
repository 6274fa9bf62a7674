package top_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

func TestOrders(t *testing.T) {
	for by, want := range map[top.Order][]string{
		// severe, then stalls, then what is not judged, then the ratio; a volume after all disks
		top.ByTrouble:   {"nvme1n1", "nvme2n1", "nvme10n1", "nvme0n1", "sda", "dm-0"},
		top.ByIOPS:      {"nvme10n1", "nvme0n1", "nvme1n1", "sda", "nvme2n1", "dm-0"},
		top.ByBandwidth: {"nvme10n1", "nvme0n1", "nvme1n1", "nvme2n1", "sda", "dm-0"},
		top.ByLatency:   {"sda", "nvme1n1", "nvme0n1", "nvme10n1", "nvme2n1", "dm-0"},
		top.ByInFlight:  {"nvme10n1", "nvme2n1", "nvme0n1", "nvme1n1", "sda", "dm-0"},
		top.ByName:      {"nvme0n1", "nvme1n1", "nvme2n1", "nvme10n1", "sda", "dm-0"},
	} {
		rows := node().Devices
		top.Sort(rows, by, false)
		assert.Equal(t, want, names(rows), "%s", by)
	}
	assert.Len(t, top.Orders(), 6)
	rows := node().Devices
	top.Sort(rows, top.ByName, true)
	assert.Equal(t, []string{"sda", "nvme10n1", "nvme2n1", "nvme1n1", "nvme0n1", "dm-0"}, names(rows))
}

// Equal rows are sorted by name, with numbers in numeric order.
func TestNaturalOrder(t *testing.T) {
	want := []string{"d1", "d2", "d9", "d10", "d10p1", "d10p2", "d10p10", "d100", "nvme1n2", "nvme1n10", "nvme2n1", "sda", "sdaa", "sdb"}
	var rows []top.Row
	for _, name := range want {
		rows = append(rows, top.Row{Device: name, Whole: true})
	}
	slices.Reverse(rows)
	top.Sort(rows, top.ByTrouble, false)
	assert.Equal(t, want, names(rows))
}

func TestStatesByTrouble(t *testing.T) {
	var rows []top.Row
	for _, s := range finding.States() {
		rows = append(rows, top.Row{Device: string(s), State: s})
	}
	want := names(rows)
	slices.Reverse(want)
	top.Sort(rows, top.ByTrouble, false)
	assert.Equal(t, want, names(rows), "as everywhere: what is not known to be good comes before what is")
}

// A stall means that nothing completes now, which is worse than a drive that may be getting slower.
func TestAStallIsWorseThanWatch(t *testing.T) {
	of := func(name string, v record.DriveVerdict) top.Row {
		return top.Row{Device: name, State: finding.State(v)}
	}
	stalls := of("c", record.Healthy)
	stalls.Stall = &record.Stall{Length: 3 * time.Second, Cause: record.StallByDevice, Ongoing: true}
	rows := []top.Row{of("a", record.Watch), of("b", record.Degraded), stalls}
	top.Sort(rows, top.ByTrouble, false)
	assert.Equal(t, []string{"b", "c", "a"}, names(rows))
}

func names(rows []top.Row) (all []string) {
	for _, r := range rows {
		all = append(all, r.Device)
	}
	return all
}
