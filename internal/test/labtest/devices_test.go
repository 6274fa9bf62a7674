package labtest_test

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testDevices compares everything that ssdprobe reports about each device with nvme-cli and sysfs.
func testDevices(t *testing.T, m *lab.Machine) {
	rows := devices(t, m)
	for _, id := range []string{plain, remote, dual, half, sparse, twin0, twin1} {
		d := disk(t, m, id)
		row, ok := rows[d.Namespaces[0]]
		require.True(t, ok, "%s (%v) is missing", id, d)
		assert.Equal(t, witnessed(t, m, d), row.Device, id)
		assert.True(t, row.Watched, "%s: %s", id, row.Reason)
		assert.Equal(t, conditions(t, m, row.Device), row.Conditions, id)
	}
	assert.Equal(t, 1, rows[disk(t, m, remote).Namespaces[0]].Device.NUMANode)
	assert.Equal(t, record.NumberOf(1), rows[disk(t, m, remote).Namespaces[0]].Conditions.NUMANode)
	assert.Equal(t, 4096, rows[disk(t, m, remote).Namespaces[0]].Device.LogicalBlockBytes)

	two := rows[disk(t, m, dual).Namespaces[0]].Device
	assert.Len(t, two.Controllers, 2, "both paths of the one device")
	for name := range rows {
		assert.NotContains(t, name, "c", "a path is no device of its own")
	}
	// A second look finds the same identities.
	for name, row := range devices(t, m) {
		assert.Equal(t, rows[name].Device.ID, row.Device.ID)
	}
}

// witnessed returns a device as nvme-cli and sysfs describe it.
func witnessed(t *testing.T, m *lab.Machine, d lab.Disk) record.Device {
	t.Helper()
	controller := nvme(t, m, "id-ctrl", "/dev/"+d.Controllers[0])
	blocks, blockBytes := namespaceSize(t, m, d.Node())
	block := "/sys/block/" + d.Namespaces[0]
	class := "/sys/class/nvme/" + d.Controllers[0]
	pci := "/sys/bus/pci/devices/" + text(t, m, class, "address")
	return record.Device{
		ID: text(t, m, block, "wwid"), WWID: text(t, m, block, "wwid"),
		Name: d.Namespaces[0], Number: text(t, m, block, "dev"), Kind: record.KindDisk, Transport: text(t, m, class, "transport"),
		Model: controller.text(t, "mn"), Serial: controller.text(t, "sn"), Firmware: controller.text(t, "fr"),
		SizeBytes: int64(blocks) * int64(blockBytes), LogicalBlockBytes: int(blockBytes),
		PhysicalBlockBytes: number(t, m, block, "queue/physical_block_size"),
		NUMANode:           number(t, m, pci, "numa_node"), PCIAddress: filepath.Base(pci),
		Link: &record.PCIeLink{
			CurrentGTs: speed(t, m, pci, "current_link_speed"), MaxGTs: speed(t, m, pci, "max_link_speed"),
			CurrentLanes: number(t, m, pci, "current_link_width"), MaxLanes: number(t, m, pci, "max_link_width"),
		},
		Controllers: d.Controllers,
	}
}

// conditions returns the conditions of a device as sysfs has them.
func conditions(t *testing.T, m *lab.Machine, d record.Device) record.Conditions {
	t.Helper()
	block := "/sys/block/" + d.Name
	queue := block
	controller, namespace, ok := strings.Cut(strings.TrimPrefix(d.Name, "nvme"), "n")
	require.True(t, ok)
	// A namespace with several paths has their queues.
	paths, err := m.Glob(bounded(t), fmt.Sprintf("/sys/block/nvme%sc*n%s", controller, namespace))
	require.NoError(t, err)
	if len(paths) > 0 {
		queue = paths[0]
	}
	_, scheduler, _ := strings.Cut(text(t, m, queue, "queue/scheduler"), "[")
	scheduler, _, _ = strings.Cut(scheduler, "]")
	c := record.Conditions{
		Model: d.Model, Firmware: d.Firmware, Transport: d.Transport, PCIeLink: d.Link.Current(),
		Format:    record.BlockFormat{LogicalBytes: d.LogicalBlockBytes, PhysicalBytes: d.PhysicalBlockBytes},
		NUMANode:  record.NumberOf(d.NUMANode),
		Scheduler: scheduler, NrRequests: record.NumberOf(number(t, m, queue, "queue/nr_requests")), WriteCache: text(t, m, block, "queue/write_cache"),
		Polling: record.Polling{Mode: record.On, Queues: record.NumberOf(number(t, m, "/sys/module/nvme/parameters/poll_queues"))}, Kernel: m.Kernel(),
	}
	require.Equal(t, "1", text(t, m, queue, "queue/io_poll"), "as the kernel was told")
	states, err := m.Glob(bounded(t), "/sys/bus/pci/devices/"+d.PCIAddress+"/link/*_aspm")
	require.NoError(t, err)
	for _, state := range states {
		require.Equal(t, "0", text(t, m, state), "this QEMU saves power on its links: compare that too")
		c.ASPM.States = record.Off
	}
	_, policy, _ := strings.Cut(text(t, m, "/sys/module/pcie_aspm/parameters/policy"), "[")
	c.ASPM.Policy, _, _ = strings.Cut(policy, "]")
	return c
}

// namespaceSize returns the size of a device according to Identify Namespace.
func namespaceSize(t *testing.T, m *lab.Machine, node string) (blocks, blockBytes uint64) {
	t.Helper()
	namespace := nvme(t, m, "id-ns", node)
	blocks = namespace.number(t, "nsze")
	size, err := strconv.ParseUint(strings.TrimSpace(output(t, m, "blockdev", "--getsize64", node)), 10, 64)
	require.NoError(t, err)
	require.NotZero(t, blocks)
	require.Equal(t, 1, bits.OnesCount64(size/blocks), "a block is a power of two")
	return blocks, size / blocks
}

// speed reads "2.5 GT/s PCIe".
func speed(t *testing.T, m *lab.Machine, pci, file string) float64 {
	t.Helper()
	gts, _, ok := strings.Cut(text(t, m, pci, file), " GT/s")
	require.True(t, ok)
	value, err := strconv.ParseFloat(gts, 64)
	require.NoError(t, err)
	return value
}

// testClones tests drives that share a serial number: they are not reported until something distinguishes them.
func testClones(t *testing.T, m *lab.Machine) {
	clones := []string{disk(t, m, clone0).Namespaces[0], disk(t, m, clone1).Namespaces[0]}
	var list report.DeviceList
	result := ssdprobe(t, m, &list, "devices", "--output", "json")
	assert.Equal(t, 1, result.ExitCode)
	assert.Contains(t, result.Stderr, "ambiguous identity")
	for _, name := range clones {
		assert.Contains(t, result.Stderr, name)
		for _, row := range list.Devices {
			assert.NotEqual(t, name, row.Device.Name)
		}
		run := ssdprobe(t, m, nil, "run", "--target", "/dev/"+name)
		assert.Equal(t, 2, run.ExitCode)
		assert.Contains(t, run.Stderr, "ambiguous identity")
		for _, candidate := range clones {
			assert.Contains(t, run.Stderr, candidate+" (", "both by name")
		}
	}
	// EUI64s distinguish the twins, and the daemon watches all other drives meanwhile.
	ids := []string{identity(t, m, twin0), identity(t, m, twin1)}
	assert.Equal(t, []string{"eui.5254000000000010", "eui.5254000000000011"}, ids)
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+"devices: {enabled: true}\n"))
	now := d.scrape(t)
	for _, id := range ids {
		assert.Equal(t, 1.0, now.must(t, "ssdprobe_device_info", labels{"id": id, "serial": "TWIN"}))
	}
	assert.Zero(t, now.count(labels{"serial": "CLONE"}))
	for _, name := range clones {
		assert.Zero(t, now.count(labels{"device": name}))
	}
	assert.Zero(t, now.must(t, "ssdprobe_collector_success", labels{"collector": "discovery"}))
	assert.Equal(t, 1, d.countLog(t, "ambiguous identity"), "said once")
	d.stop(t)
}
