package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Zram creates a disk in compressed memory, which is removed when the test ends. Like dm and md, it has no requests.
func Zram(t testing.TB) (path string) {
	t.Helper()
	Root(t)
	made, err := os.ReadFile("/sys/class/zram-control/hot_add")
	if os.IsNotExist(err) {
		_, err = exec.CommandContext(t.Context(), "modprobe", "zram").Output()
		require.NoError(t, err, "this test needs zram")
		made, err = os.ReadFile("/sys/class/zram-control/hot_add")
	}
	require.NoError(t, err)
	name := strings.TrimSpace(string(made))
	t.Cleanup(func() { require.NoError(t, os.WriteFile("/sys/class/zram-control/hot_remove", []byte(name), 0o600)) })
	require.NoError(t, os.WriteFile("/sys/block/zram"+name+"/disksize", []byte("16M"), 0o600))
	return "/dev/zram" + name
}
