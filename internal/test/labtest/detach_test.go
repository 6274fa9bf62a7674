package labtest_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// startWriting starts a suite that overwrites a drive, with the given engines of fio, and waits until it writes in its
// last step.
func startWriting(t *testing.T, m *lab.Machine, drive, stepTime string, engines ...string) *lab.Process {
	t.Helper()
	d := disk(t, m, drive)
	written := func() int {
		sectors, err := strconv.Atoi(strings.Fields(text(t, m, "/sys/block", d.Namespaces[0], "stat"))[6])
		require.NoError(t, err)
		return sectors
	}
	p, err := m.StartProcess(bounded(t), "ssdprobe", "run", "mixed", "--even-if-busy", "--set", "time="+stepTime,
		"--set", "engines="+strings.Join(engines, ","), "-o", "json", "--target", d.Node(), "--destroy", drive)
	require.NoError(t, err)
	_, err = p.AwaitLine(bounded(t), fmt.Sprintf("step %d of %d", len(engines), len(engines)))
	require.NoError(t, err)
	before := written()
	eventually(t, "fio writes", func() bool { return written() > before })
	return p
}

// testDetachedNamespace detaches the namespace that fio writes to. Its controller stays, and so do the results of the
// step before.
func testDetachedNamespace(t *testing.T, m *lab.Machine) {
	d, others := disk(t, m, victim), contents(t, m)
	controller := "/dev/" + d.Controllers[0]
	id := nvme(t, m, "id-ctrl", controller).text(t, "cntlid")
	require.NoError(t, m.Throttle(bounded(t), victim, 200)) // a step that is waited for
	p := startWriting(t, m, victim, "10s", "libaio", "io_uring")
	output(t, m, "nvme", "detach-ns", controller, "-n", "1", "-c", id)
	t.Cleanup(func() {
		_, err := m.Output(afterwards(t), "nvme", "attach-ns", controller, "-n", "1", "-c", id)
		assert.NoError(t, err)
		_, err = m.Disk(afterwards(t), victim)
		assert.NoError(t, err)
	})
	ended := endsEarly(t, m, p, "io_uring")
	var document report.Document
	ssdprobeJSON(t, ended, &document)
	require.NotEmpty(t, document.Report.Steps)
	assert.Equal(t, "libaio-random-mixed-qd16", document.Report.Steps[0].Name)
	assert.False(t, document.Report.Complete(), "%+v", document.Report.Warnings)
	assert.Equal(t, others, contents(t, m), "another drive was written to")
}

// testNameOfRemovedDrive removes the drive that fio writes to, and plugs in another at once. The name is not reused while
// the run holds the drive, and a drive that takes it later is not the one that was named for destruction.
func testNameOfRemovedDrive(t *testing.T, m *lab.Machine) {
	before, others := disk(t, m, headless), contents(t, m)
	delete(others, headless)
	p := startWriting(t, m, headless, "10m", "libaio")
	require.NoError(t, p.Signal(bounded(t), syscall.SIGSTOP)) // fio continues
	require.NoError(t, m.Unplug(bounded(t), headless))
	second, err := m.Plug(bounded(t), intruder)
	require.NoError(t, err)
	assert.NotEqual(t, before.Namespaces, second.Namespaces, "the name of a drive that is held")
	content := checksum(t, m, second)
	require.NoError(t, p.Signal(bounded(t), syscall.SIGCONT))
	ended := endsEarly(t, m, p, "libaio")
	assert.Empty(t, ended.Stdout, "no figures of a drive that is not there")
	assert.Equal(t, content, checksum(t, m, second), "another drive was written to")

	require.NoError(t, m.Unplug(bounded(t), intruder))
	second, err = m.Plug(bounded(t), intruder)
	require.NoError(t, err)
	require.Equal(t, before.Namespaces, second.Namespaces, "another drive took its name")
	assert.Contains(t, destroy(t, m, second.Node(), headless), "its serial number is intruder, and headless was named")
	assert.Equal(t, content, checksum(t, m, second))
	require.NoError(t, m.Unplug(bounded(t), intruder))
	_, err = m.Plug(bounded(t), headless)
	require.NoError(t, err)
	now := contents(t, m)
	delete(now, headless)
	assert.Equal(t, others, now, "another drive was written to")
}

// endsEarly waits for the end of a run whose drive has gone in the step with the given engine. The run fails, says why,
// and leaves nothing behind.
func endsEarly(t *testing.T, m *lab.Machine, p *lab.Process, engine string) lab.Result {
	t.Helper()
	ended, err := p.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, 1, ended.ExitCode, "%+v", ended)
	// The kernel returns several errors for this. For a while it returns none, but no data either.
	assert.Regexp(t, "ssdprobe: run mixed: step "+engine+"-random-mixed-qd16: (run fio: .*(the target went away|the device is gone)|an I/O failed: job .*: E)", ended.Stderr)
	assert.False(t, running(t, m, "fio"), "fio is left behind")
	return ended
}
