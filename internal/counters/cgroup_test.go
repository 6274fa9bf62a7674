package counters_test

import (
	"errors"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

const (
	unifiedMount = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	cpuStatV2    = "usage_usec 264532432\nuser_usec 180442163\nsystem_usec 84090268\nnr_periods 10\nnr_throttled 2\nthrottled_usec "
)

func TestCGroup(t *testing.T) {
	type want struct {
		throttled time.Duration
		limits    []counters.IOLimit
	}
	for name, test := range map[string]struct {
		cgroup, mounts string
		files          map[string]string
		want           want
	}{
		"version 2, own group and ancestors": {
			cgroup: "0::/kubepods/pod7/c1\n",
			mounts: unifiedMount,
			files: map[string]string{
				"sys/fs/cgroup/cpu.stat":                       "usage_usec 5\n",
				"sys/fs/cgroup/kubepods/cpu.stat":              cpuStatV2 + "0\n",
				"sys/fs/cgroup/kubepods/pod7/cpu.stat":         cpuStatV2 + "30\n",
				"sys/fs/cgroup/kubepods/pod7/c1/cpu.stat":      cpuStatV2 + "7\n",
				"sys/fs/cgroup/kubepods/pod7/c2/cpu.stat":      cpuStatV2 + "1000\n", // a neighbour's
				"sys/fs/cgroup/kubepods/pod7/c1/io.max":        "8:0 rbps=1 wbps=max riops=max wiops=max\n",
				"sys/fs/cgroup/kubepods/pod7/io.max":           "8:0 rbps=max\n259:0 rbps=2097152 wbps=max riops=max wiops=120\n",
				"sys/fs/cgroup/kubepods/io.latency":            "259:0 target=75\n",
				"sys/fs/cgroup/kubepods/pod7/c2/io.max":        "259:0 riops=1\n",
				"sys/fs/cgroup/kubepods/pod7/c1/io.latency":    "",
				"sys/fs/cgroup/kubepods/pod7/c1/io.max.unread": "259:0 riops=1\n",
			},
			want: want{37 * time.Microsecond, []counters.IOLimit{
				{File: "/sys/fs/cgroup/kubepods/pod7/io.max", Limit: "rbps=2097152"},
				{File: "/sys/fs/cgroup/kubepods/pod7/io.max", Limit: "wiops=120"},
				{File: "/sys/fs/cgroup/kubepods/io.latency", Limit: "target=75"},
			}},
		},
		"version 2 in a namespace of its own": {
			cgroup: "0::/\n",
			mounts: unifiedMount,
			files: map[string]string{
				"sys/fs/cgroup/cpu.stat": cpuStatV2 + "9\n",
				"sys/fs/cgroup/io.max":   "259:0 rbps=max wbps=max riops=500 wiops=max\n",
			},
			want: want{9 * time.Microsecond, []counters.IOLimit{{File: "/sys/fs/cgroup/io.max", Limit: "riops=500"}}},
		},
		"version 2, own group mounted, the host's tree as well": {
			cgroup: "0::/kubepods/c1\n",
			mounts: "31 23 0:28 /kubepods/c1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n" +
				"32 23 0:28 / /host/sys/fs/cgroup ro - cgroup2 cgroup2 rw\n" +
				"33 23 0:28 /kubepods/c11 /neighbour ro - cgroup2 cgroup2 rw\n",
			files: map[string]string{
				"host/sys/fs/cgroup/kubepods/cpu.stat":    cpuStatV2 + "2\n",
				"host/sys/fs/cgroup/kubepods/c1/cpu.stat": cpuStatV2 + "1\n",
				"sys/fs/cgroup/cpu.stat":                  cpuStatV2 + "1\n", // the same group again
				"neighbour/cpu.stat":                      cpuStatV2 + "1000\n",
			},
			want: want{throttled: 3 * time.Microsecond},
		},
		"version 2, mount of an ancestor outside the namespace": {
			cgroup: "0::/\n",
			mounts: "30 23 0:28 /../.. /host ro - cgroup2 cgroup2 rw\n" + unifiedMount,
			files: map[string]string{
				"host/cpu.stat":          cpuStatV2 + "1000\n",
				"sys/fs/cgroup/cpu.stat": cpuStatV2 + "4\n",
			},
			want: want{throttled: 4 * time.Microsecond},
		},
		"version 1, controllers mounted together": {
			cgroup: "5:blkio:/docker/c1\n4:cpu,cpuacct:/docker/c1\n1:name=systemd:/docker/c1\n",
			mounts: "40 31 0:40 /docker/c1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
				"41 31 0:41 / /sys/fs/cgroup/blkio ro - cgroup cgroup rw,blkio\n" +
				"42 31 0:42 / /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n",
			files: map[string]string{
				"sys/fs/cgroup/cpu,cpuacct/cpu.stat":                            "nr_periods 0\nnr_throttled 1\nthrottled_time 1500000\n",
				"sys/fs/cgroup/blkio/docker/c1/blkio.throttle.read_iops_device": "8:16 100\n259:0 1000\n",
				"sys/fs/cgroup/blkio/docker/c1/blkio.throttle.read_bps_device":  "",
				// In version 1 limits are not inherited.
				"sys/fs/cgroup/blkio/docker/blkio.throttle.read_bps_device": "259:0 1\n",
			},
			want: want{1500 * time.Microsecond, []counters.IOLimit{
				{File: "/sys/fs/cgroup/blkio/docker/c1/blkio.throttle.read_iops_device", Limit: "1000"},
			}},
		},
		"hybrid, cpu in version 1 and io in version 2": {
			cgroup: "1:cpu:/a\n0::/b\n",
			mounts: "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
				"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			files: map[string]string{
				"sys/fs/cgroup/cpu/a/cpu.stat":     "throttled_time 11\n",
				"sys/fs/cgroup/unified/b/cpu.stat": cpuStatV2 + "1000\n", // not where cpu is
				"sys/fs/cgroup/unified/b/io.max":   "259:0 rbps=5\n",
			},
			want: want{11, []counters.IOLimit{{File: "/sys/fs/cgroup/unified/b/io.max", Limit: "rbps=5"}}},
		},
		"no controllers enabled": {
			cgroup: "0::/user.slice\n",
			mounts: unifiedMount,
			files:  map[string]string{"sys/fs/cgroup/user.slice/cgroup.procs": "1\n"},
		},
		"kernel without the controllers": {
			cgroup: "1:pids:/\n",
			mounts: "40 31 0:40 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"proc/7/cgroup": test.cgroup, "proc/7/mountinfo": test.mounts}
			for name, data := range test.files {
				files[name] = data
			}
			group, err := counters.FindCGroup(sysfstest.Make(t, files, map[string]string{"proc/self": "7"}))
			require.NoError(t, err)
			var got want
			got.throttled, err = group.Throttled()
			require.NoError(t, err)
			got.limits, err = group.IOLimits("259:0")
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	const v2, v1 = unifiedMount, "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	for name, test := range map[string]struct {
		cgroup, mounts string
		files          map[string]string
		want           int64
		err            string
	}{
		"version 2": {"0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/memory.max": "402653184\n"}, 402653184, ""},
		"the smallest of the ancestors": {"0::/a/b/c\n", v2, map[string]string{
			"sys/fs/cgroup/a/memory.max": "3000\n", "sys/fs/cgroup/a/b/memory.max": "2000\n", "sys/fs/cgroup/a/b/c/memory.max": "max\n",
			"sys/fs/cgroup/a/d/memory.max": "1\n", // a neighbour's
		}, 2000, ""},
		"where it is slowed down": {"0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/memory.max": "3000\n", "sys/fs/cgroup/a/memory.high": "1000\n"}, 1000, ""},
		"no limit":                {"0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.high": "max\n"}, 0, ""},
		"no controller":           {"0::/a\n", v2, nil, 0, ""},
		"version 1": {"4:memory:/a\n0::/z\n", v1 + v2, map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "5000\n",
			"sys/fs/cgroup/z/memory.max": "1\n", // not where memory is
		}, 5000, ""},
		"version 1, no limit": {"4:memory:/a\n", v1, map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0, ""},
		"out of sight":  {"0::/a\n", "", nil, 0, "none of the 0 mounts shows the memory controller"},
		"no number":     {"0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/memory.max": "much\n"}, 0, "parse /sys/fs/cgroup/a/memory.max"},
		"beyond 64 bit": {"0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/memory.max": "99999999999999999999\n"}, 0, "value out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"proc/self/cgroup": test.cgroup, "proc/self/mountinfo": test.mounts}
			maps.Copy(files, test.files)
			group, err := counters.FindCGroup(sysfstest.Make(t, files, nil))
			require.NoError(t, err)
			limit, err := group.MemoryLimit()
			assert.Equal(t, test.want, limit)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.err)
			}
		})
	}
}

func TestCGroupRefuses(t *testing.T) {
	_, err := counters.FindCGroup(sysfstest.Make(t, nil, nil))
	require.ErrorIs(t, err, os.ErrNotExist)

	find := func(files map[string]string) (counters.CGroup, error) {
		return counters.FindCGroup(sysfstest.Make(t, files, nil))
	}
	_, err = find(map[string]string{"proc/self/cgroup": "nonsense\n", "proc/self/mountinfo": ""})
	require.ErrorContains(t, err, "nonsense")
	_, err = find(map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": "nonsense\n"})
	require.ErrorContains(t, err, "nonsense")

	hidden, err := find(map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": ""})
	require.NoError(t, err)
	_, err = hidden.Throttled()
	require.ErrorIs(t, err, os.ErrNotExist, "nothing visible is not the same as nothing throttled")
	_, err = hidden.IOLimits("259:0")
	require.ErrorIs(t, err, os.ErrNotExist)

	broken, err := find(map[string]string{
		"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": unifiedMount,
		"sys/fs/cgroup/a/cpu.stat": "throttled_usec many\n", "sys/fs/cgroup/a/io.max/x": "a directory",
	})
	require.NoError(t, err)
	_, err = broken.Throttled()
	require.ErrorContains(t, err, "/sys/fs/cgroup/a/cpu.stat")
	_, err = broken.IOLimits("259:0")
	require.ErrorContains(t, err, "/sys/fs/cgroup/a/io.max")
}

func TestCGroupOfThisMachine(t *testing.T) {
	group, err := counters.FindCGroup(sysfs.New("/"))
	require.NoError(t, err)
	before, err := group.Throttled()
	if errors.Is(err, os.ErrNotExist) {
		assert.NoFileExists(t, "/sys/fs/cgroup/cgroup.procs")
		return
	}
	require.NoError(t, err)
	after, err := group.Throttled()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, after, before)
	limits, err := group.IOLimits("1048575:1048575")
	require.NoError(t, err)
	assert.Empty(t, limits, "no device has this number")
}
