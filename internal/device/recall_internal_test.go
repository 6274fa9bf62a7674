package device

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestADeviceIsRecalledByTheNameOfTheDriveItself(t *testing.T) {
	named := func(id string, byID ...string) Recalled { return Recalled{Device: record.Device{ID: id, ByID: byID}} }
	before := []Recalled{
		named("a", "dm-name-root", "virtio-a"), named("b", "virtio-b"), named("b again", "virtio-b"), named("nameless"),
	}
	for name, want := range map[string]string{"virtio-a": "a", "virtio-b": "", "virtio-c": "", "dm-name-root": "", "": ""} {
		r, ok := recalled(before, name)
		assert.Equal(t, want, r.Device.ID, name)
		assert.Equal(t, want != "", ok, name)
	}
}
