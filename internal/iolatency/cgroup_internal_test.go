package iolatency

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A job or a pod may end together with its slow I/O, before that is read.
func TestAGroupThatIsGone(t *testing.T) {
	c := cgroups{root: t.TempDir()}
	group := filepath.Join(c.root, "kubepods", "pod")
	require.NoError(t, os.MkdirAll(group, 0o700))
	info, err := os.Stat(group)
	require.NoError(t, err)
	c.follow()
	require.NoError(t, os.Remove(group))
	assert.Equal(t, "/kubepods/pod", c.path(info.Sys().(*syscall.Stat_t).Ino))
	assert.Equal(t, "number 4711", c.path(4711), "the tree is not walked again at once")
}
