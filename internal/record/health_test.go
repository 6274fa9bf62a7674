package record_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestCoalescingText(t *testing.T) {
	for c, want := range map[record.Coalescing]string{
		{Threshold: 1, Time: time.Millisecond}:        "off",
		{Threshold: 11, Time: 200 * time.Microsecond}: "11 / 200µs",
		{Threshold: 2}: "off",
	} {
		assert.Equal(t, want, c.String())
	}
}

func TestControllersOf(t *testing.T) {
	s := record.Snapshot{Controllers: []record.Controller{
		{Name: "nvme0", Devices: []string{"a", "b"}}, {Name: "nvme1", Devices: []string{"a"}}, {Name: "sda"},
	}}
	names := func(id string) (list []string) {
		for _, c := range s.ControllersOf(id) {
			list = append(list, c.Name)
		}
		return list
	}
	assert.Equal(t, []string{"nvme0", "nvme1"}, names("a"))
	assert.Equal(t, []string{"nvme0"}, names("b"))
	assert.Empty(t, names(""))
}

func TestAllocatedRatio(t *testing.T) {
	ratio, ok := record.NamespaceHealth{SizeBytes: 1000, AllocatedBytes: new(uint64(250))}.AllocatedRatio()
	assert.True(t, ok)
	assert.Equal(t, 0.25, ratio)
	for _, unknown := range []record.NamespaceHealth{{}, {SizeBytes: 1000}, {AllocatedBytes: new(uint64(0))}} {
		_, ok = unknown.AllocatedRatio()
		assert.False(t, ok)
	}
}
