package counters

import (
	"strings"
	"testing"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"
)

func FuzzCGroupFiles(f *testing.F) {
	f.Add("9:name=systemd:/\n1:cpu,cpuacct:/a/b\n0::/\n", "throttled_usec 12\n", "259:0 rbps=1 wbps=max\n", "/a")
	f.Add("0::/../x\n", "throttled_usec -1\n", "259:0\n259:0 =max\n", "/../")
	f.Fuzz(func(t *testing.T, cgroup, stat, limits, root string) {
		if memberships, err := parseMembership(strings.NewReader(cgroup)); err == nil {
			mounts := []*mountinfo.Info{
				{Root: root, Mountpoint: "/sys/fs/cgroup", FSType: "cgroup2"},
				{Root: root, Mountpoint: "/sys/fs/cgroup/cpu", FSType: "cgroup", VFSOptions: "rw,cpu"},
			}
			for _, dir := range locate(memberships, mounts, "cpu").dirs {
				require.True(t, strings.HasPrefix(dir, "/sys/fs/cgroup"), dir)
			}
		}
		if n, err := parseFlatKey(strings.NewReader(stat), "throttled_usec"); err == nil && n != 0 {
			require.Contains(t, stat, "throttled_usec")
		}
		found, err := parseLimits(strings.NewReader(limits), "259:0")
		if err != nil {
			return
		}
		for _, limit := range found {
			require.Contains(t, limits, limit)
			require.False(t, strings.HasSuffix(limit, "=max"), limit)
		}
	})
}
