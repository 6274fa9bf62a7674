package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestOldZFSIsRefused(t *testing.T) {
	for _, version := range []string{"2.3.0-1", "2.3-rc1", "2.10.1", "2.4.99-1_gabcdef", "3.0.0", "10.0"} {
		require.NoError(t, refuseZFS(version, "1"), version)
		require.NoError(t, refuseZFS(version, ""), version)
		require.ErrorIs(t, refuseZFS(version, "0"), ErrNoDirectIO, version)
		require.ErrorContains(t, refuseZFS(version, "0"), "zfs_dio_enabled is 0", version)
	}
	for _, version := range []string{"2.2.99", "2.1.5-1ubuntu6~22.04.4", "0.8.3-1ubuntu12", "1.9", "2", "", "two.three", "2.x"} {
		err := refuseZFS(version, "")
		require.ErrorIs(t, err, ErrNoDirectIO, version)
		require.ErrorContains(t, err, "OpenZFS "+version+" answers direct reads from memory: use a filesystem with direct I/O, or OpenZFS 2.3")
	}
}

func TestRefuseMemory(t *testing.T) {
	const version, parameter = "sys/module/zfs/version", "sys/module/zfs/parameters/zfs_dio_enabled"
	const zfs = int64(zfsMagic)
	for _, test := range []struct {
		name  string
		magic int64
		files map[string]string
		want  error
	}{
		{"tmpfs", unix.TMPFS_MAGIC, nil, ErrMemory},
		{"ramfs", unix.RAMFS_MAGIC, nil, ErrMemory},
		{"ext4", unix.EXT4_SUPER_MAGIC, map[string]string{version: "2.2.2-1\n"}, nil},
		{"OpenZFS before direct I/O", zfs, map[string]string{version: "2.2.2-0ubuntu9\n"}, ErrNoDirectIO},
		{"OpenZFS", zfs, map[string]string{version: "2.3.1-1\n", parameter: "1\n"}, nil},
		{"OpenZFS told not to", zfs, map[string]string{version: "2.3.1-1\n", parameter: "0\n"}, ErrNoDirectIO},
		{"OpenZFS that does not say which", zfs, nil, ErrNoDirectIO},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := refuseMemory(sysfstest.Make(t, test.files, nil), unix.Statfs_t{Type: test.magic})
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestWhole(t *testing.T) {
	const size = 1 << 20
	ext4, zfs := unix.Statfs_t{Type: unix.EXT4_SUPER_MAGIC}, unix.Statfs_t{Type: zfsMagic}
	assert.True(t, whole(unix.Stat_t{Size: size, Blocks: size / 512}, ext4, size))
	assert.False(t, whole(unix.Stat_t{Size: size, Blocks: size/512 - 8}, ext4, size), "a hole")
	assert.True(t, whole(unix.Stat_t{Size: size, Blocks: 1}, zfs, size), "OpenZFS says how much only later")
	for _, filesystem := range []unix.Statfs_t{ext4, zfs} {
		assert.False(t, whole(unix.Stat_t{Size: size - 4096, Blocks: size / 512}, filesystem, size), "cut short")
	}
}
