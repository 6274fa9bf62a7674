package docstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// TestReports runs each command of docs/reports.md in order, on loop devices and in less time.
func TestReports(t *testing.T) {
	dir, bin := t.TempDir(), filepath.Dir(lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe"))
	loop := func() string { return testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true}).Path }
	mine := " --even-if-busy --state-dir " + t.TempDir() + " --set "
	words := strings.NewReplacer(
		"/dev/nvme0n1", loop(), "/dev/nvme1n1", loop(), "sudo ", "", "--runtime=10", "--runtime=1",
		"run quick", "run quick"+mine+"time=200ms", "run depth-sweep", "run depth-sweep"+mine+"time=100ms --set depths=1,4",
		"run linear-read", "run linear-read"+mine+"points=2 --set depth=2",
	)
	all := commands(text(t, filepath.Join(root, "docs", "reports.md")))
	require.Greater(t, len(all), 10)
	for _, command := range all {
		t.Log(command)
		c := exec.CommandContext(t.Context(), "bash", "-c", words.Replace(command))
		c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if strings.Contains(command, "compare") && err != nil {
			require.Equal(t, "exit status 3", err.Error(), "%s: %s", command, out) // slower, as a short run on a busy machine may be
			continue
		}
		require.NoError(t, err, "%s: %s", command, out)
	}
	for _, made := range []string{"quick.html", "quick.md", "quick.csv", "quick.json", "old.json", "overlay.html", "buses/report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, made))
		require.NoError(t, err)
		assert.NotEmpty(t, data, made)
	}
	for _, made := range testenv.Names(t, filepath.Join(dir, "quick-nvme0n1")) {
		assert.Contains(t, text(t, filepath.Join(root, "docs", "reports.md")), "| `"+strings.TrimSuffix(made, "/"), "a file of the folder that the page does not tell of")
	}
}
