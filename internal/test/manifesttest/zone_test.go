package manifesttest

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The image has nothing but its programs, and no /usr/share/zoneinfo.
func TestTimeZonesAreInTheProgram(t *testing.T) {
	testenv.Root(t)
	root := t.TempDir()
	write(t, filepath.Join(root, "ssdprobe"), read(t, program(t)), 0o755)
	write(t, filepath.Join(root, "ssdprobe.yaml"), "quiet_hours: [{schedule: 0 8 * * 1-5, time_zone: Europe/Berlin, duration: 10h}]\n", 0o644)
	c := exec.CommandContext(t.Context(), "/ssdprobe", "config", "check", "/ssdprobe.yaml")
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	c.Dir = "/"
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "valid")
}
