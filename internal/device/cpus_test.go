package device_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestCPUs(t *testing.T) {
	server := devicetest.Server{Sockets: 2, Cores: 4, Threads: 2}.Make(t)
	single := devicetest.Server{Sockets: 1, Cores: 3, Threads: 1}.Make(t)
	// The second thread of a core is next to the first, a core has lost its first thread, and one
	// CPU does not report its core.
	odd := sysfstest.Make(t, map[string]string{
		"sys/devices/system/cpu/online":                             "0-1,3,5\n",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0-1\n",
		"sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "0-1\n",
		"sys/devices/system/cpu/cpu3/topology/thread_siblings_list": "2-3\n",
		"sys/devices/system/node/node1/cpulist":                     "\n",
	}, nil)
	for _, test := range []struct {
		name string
		fs   sysfs.FS
		node int
		want device.CPUSet
	}{
		{"node 0", server, 0, device.CPUSet{CPUs: []int{0, 1, 2, 3, 8, 9, 10, 11}, Cores: 4}},
		{"node 1", server, 1, device.CPUSet{CPUs: []int{4, 5, 6, 7, 12, 13, 14, 15}, Cores: 4}},
		{"all", server, -1, device.CPUSet{CPUs: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, Cores: 8}},
		{"one thread a core", single, 0, device.CPUSet{CPUs: []int{0, 1, 2}, Cores: 3}},
		{"odd", odd, -1, device.CPUSet{CPUs: []int{0, 3, 5, 1}, Cores: 3}},
		{"a node of memory only", odd, 1, device.CPUSet{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := device.CPUs(test.fs, test.node)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	_, err := device.CPUs(server, 2)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCPUsOfABrokenList(t *testing.T) {
	for _, list := range []string{"3-1", "0-", "-", ",", "0,,1", "a", "0-4294967295", "99999999999999999999"} {
		_, err := device.CPUs(sysfstest.Make(t, map[string]string{"sys/devices/system/cpu/online": list + "\n"}, nil), -1)
		require.ErrorContains(t, err, "parse /sys/devices/system/cpu/online: ", list)
	}
	_, err := device.CPUs(sysfstest.Make(t, map[string]string{"sys/devices/system/cpu/online": "1048576\n"}, nil), -1)
	require.ErrorContains(t, err, strconv.Quote("1048576"))
}
