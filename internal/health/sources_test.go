package health_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// names returns "nvme0 (nvme): nvme0n1 nvme0n2".
func names(sources []health.Source) []string {
	var list []string
	for _, s := range sources {
		text := fmt.Sprintf("%s (%s):", s.Name, s.Kind)
		for _, d := range s.Devices {
			text += " " + d.Name
		}
		list = append(list, text)
	}
	return list
}

func sourcesOf(t *testing.T, files sysfs.FS) []health.Source {
	t.Helper()
	devices, err := device.Scan(files)
	require.NotNil(t, devices, err)                           // some fixtures have clones, which are left out
	return health.Sources(files, append(devices, devices...)) // duplicates, as if files on them were watched too
}

func TestSources(t *testing.T) {
	for fixture, want := range map[string][]string{
		"nvme-multipath": {"nvme0 (nvme): nvme0n1 nvme0n2", "nvme1 (nvme): nvme0n1 nvme0n2"},
		"scsi":           {"sda (drive): sda", "sdb (drive): sdb", "sdc (drive): sdc"},
		"virtio-vm":      {"virtio1 (virtio): vda"},
		"nvme-slow-link": {"nvme0 (nvme): nvme0n1", "nvme1 (nvme): nvme1n1"},
		"md-raid1":       {"nvme0 (nvme): nvme0n1", "nvme1 (nvme): nvme1n1"},
		"usb":            nil,
	} {
		t.Run(fixture, func(t *testing.T) {
			assert.Equal(t, want, names(sourcesOf(t, sysfstest.Unpack(t, "../device/testdata/"+fixture+".txtar"))))
		})
	}
}

func TestSourcesOfAServer(t *testing.T) {
	files := devicetest.Server{Sockets: 2, Cores: 2, Threads: 1, Drives: 2}.Make(t)
	sources := sourcesOf(t, files)
	require.Len(t, sources, 4)
	for i, s := range sources {
		assert.Equal(t, fmt.Sprintf("nvme%d", i), s.Name)
		assert.Equal(t, i/2, s.NUMANode)
		assert.Equal(t, []string{s.Devices[0].ID}, s.IDs())
	}
	found, ok := health.NamedController(files, "nvme2", []record.Device{sources[2].Devices[0], sources[3].Devices[0]})
	require.True(t, ok)
	assert.Equal(t, sources[2], found)
	for _, name := range []string{"nvme9", "nvme", "nvme0n1", "../nvme0", ""} {
		_, ok := health.NamedController(files, name, nil)
		assert.False(t, ok, name)
	}
}

func TestNamespaceIDs(t *testing.T) {
	files := sysfstest.Make(t, map[string]string{"sys/block/nvme0n2/nsid": "7\n"}, nil)
	ids := health.NamespaceIDs(files, []record.Device{{ID: "a", Name: "nvme0n1"}, {ID: "b", Name: "nvme0n2"}})
	assert.Equal(t, map[string]uint32{"b": 7}, ids)
}
