package fiorun_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
)

// The real fio binds to node 0, which every machine has, and not to a node that does not exist.
func TestCheckMemoryNode(t *testing.T) {
	b := real(t)
	require.NoError(t, b.CheckMemoryNode(t.Context(), 0))
	err := b.CheckMemoryNode(t.Context(), 900)
	require.ErrorIs(t, err, fiorun.ErrMemoryNode)
	require.ErrorContains(t, err, "NUMA node 900")
}

// A fio without libnuma refuses the option. If the kernel refuses, libnuma complains and fio
// continues.
func TestCheckMemoryNodeOfOthers(t *testing.T) {
	for said, text := range map[string]string{
		"Build fio with libnuma-dev(el) to enable this option": `echo "Build fio with libnuma-dev(el) to enable this option" >&2; exit 1`,
		"set_mempolicy: Operation not permitted":               `echo "set_mempolicy: Operation not permitted" >&2; exit 0`,
		"exit status 1":                                        `exit 1`,
	} {
		fake := script(t, text)
		err := fake.CheckMemoryNode(t.Context(), 0)
		require.ErrorIs(t, err, fiorun.ErrMemoryNode)
		require.ErrorContains(t, err, said)
	}
}
