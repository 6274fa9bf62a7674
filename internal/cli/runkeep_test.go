package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fioimport"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A run in a folder can be checked, shown and compared from its contents alone.
func TestRunInAFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "run")
	got := ssdprobe(t, "run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--size", "32MiB",
		"--set", "time=200ms", "--folder", folder, "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "kept in "+folder)

	check := exec.CommandContext(t.Context(), "sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS")
	check.Dir = folder
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))

	ran := document(t, got).Report
	shown := in("report", folder, "-o", "json")
	require.Equal(t, 0, shown.code, shown.stderr)
	assert.Equal(t, ran, document(t, shown).Report)
	for i, step := range ran.Steps {
		names, err := filepath.Glob(filepath.Join(folder, "*", "00"+string(rune('1'+i))+"-"+step.Name+".*"))
		require.NoError(t, err)
		require.Len(t, names, 2, "fio's JSON and the job")
		job, err := os.ReadFile(names[1])
		require.NoError(t, err)
		assert.Equal(t, step.JobFile, string(job))
		text, err := os.ReadFile(names[0])
		require.NoError(t, err)
		imported, err := fioimport.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, step.Read, imported.Steps[0].Read, "fio's own report says the same")
		assert.Equal(t, step.Plan, imported.Steps[0].Plan)
	}
	var conditions struct{ Conditions json.RawMessage }
	text, err := os.ReadFile(filepath.Join(folder, "conditions.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &conditions))
	assert.NotEmpty(t, conditions.Conditions)

	same := in("compare", folder, filepath.Join(folder, "run.json"))
	assert.Equal(t, 0, same.code, same.stderr)
	old, err := filepath.Glob(filepath.Join(folder, "fio", "001-*.json"))
	require.NoError(t, err)
	against := in("compare", old[0], folder, "-o", "json")
	assert.Equal(t, 0, against.code, against.stderr)
	var compared report.Comparisons
	require.NoError(t, json.Unmarshal([]byte(against.stdout), &compared))
	require.Len(t, compared.Comparisons[0].Loads, 1, "the one that both have")
	assert.Equal(t, 1.0, compared.Comparisons[0].Loads[0].Figures[0].Slower.Value)

	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "run.json"), page, 0o600))
	changed := in("report", folder)
	assert.Equal(t, 2, changed.code)
	assert.Contains(t, changed.stderr, "changed or damaged since it was written")
}

// The place where a run is to be kept is checked before anything is measured.
func TestRunRefusesAFolderInUse(t *testing.T) {
	full := filepath.Dir(file(t, "x", "x"))
	target := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"folder":       {[]string{"run", "quick", "-t", target, "--folder", full}, "--folder: " + full + ": there is something already"},
		"outputs":      {[]string{"run", "quick", "-t", target, "--keep-fio", full}, "--keep-fio: " + full + ": there is something already"},
		"no parent":    {[]string{"run", "quick", "-t", target, "--folder", full + "/no/such"}, "--folder: " + full + "/no: no such file or directory: make it, or name another folder"},
		"a file":       {[]string{"run", "quick", "-t", target, "--folder", full + "/x"}, "--folder: " + full + "/x: not a directory: name another folder"},
		"empty":        {[]string{"run", "quick", "-t", target, "--folder", ""}, "--folder: its DIRECTORY is empty"},
		"empty too":    {[]string{"run", "quick", "-t", target, "--keep-fio="}, "--keep-fio: its DIRECTORY is empty"},
		"both":         {[]string{"run", "quick", "-t", target, "--folder", full + "/a", "--keep-fio", full + "/b"}, "leave one out"},
		"not of probe": {[]string{"run", "-t", target, "--keep-fio", full + "/b"}, "--keep-fio: is for suites of fio, not for probe"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(c.args...)
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.stderr, c.says)
			assert.Empty(t, testenv.Names(t, target), "nothing was begun")
		})
	}
	assert.Equal(t, []string{"x"}, testenv.Names(t, full))
}

// So is whether the user may write there.
func TestRunRefusesAFolderOfOthers(t *testing.T) {
	t.Parallel()
	others, at := testenv.OnDisk(t), testenv.OnDisk(t)
	require.NoError(t, os.Chmod(at, 0o777))
	require.NoError(t, os.Chmod(others, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(others, "empty"), 0o755))
	for _, args := range [][]string{{"--folder", filepath.Join(others, "run")}, {"quick", "--folder", filepath.Join(others, "run"), "--dry-run"}, {"quick", "--keep-fio", filepath.Join(others, "run")}} {
		code, says := asNobody(t, slices.Concat([]string{"run", "-t", at}, args)...)
		assert.Equal(t, 2, code)
		assert.Contains(t, says, others+": permission denied: run as a user who may write there, or name another folder")
	}
	code, says := asNobody(t, "run", "quick", "-t", at, "--keep-fio", filepath.Join(others, "empty"))
	assert.Equal(t, 2, code)
	assert.Contains(t, says, "--keep-fio: "+filepath.Join(others, "empty")+": permission denied: run as")
	assert.Empty(t, testenv.Names(t, at), "nothing was begun")
}

// A run that measured nothing leaves nothing behind.
func TestRunThatIsRefusedLeavesNoFolder(t *testing.T) {
	parent := t.TempDir()
	job := file(t, "bad.fio", "[a]\nrw=randread\ndirect=1\nioengine=libaio\nbssplit=1000/100\nsize=1m\n")
	got := in("run", "--job", job, "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--size", "16MiB", "--folder", filepath.Join(parent, "run"))
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Empty(t, testenv.Names(t, parent))
}

func TestRunKeepsFiosOwnJSON(t *testing.T) {
	testenv.Installed(t, "fio")
	dir := filepath.Join(t.TempDir(), "fio")
	got := in("run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--size", "32MiB", "--set", "time=200ms", "--keep-fio", dir)
	require.Equal(t, 0, got.code, got.stderr)
	names := testenv.Names(t, dir)
	require.Len(t, names, 3)
	shown := in("report", filepath.Join(dir, names[0]))
	assert.Equal(t, 0, shown.code, shown.stderr)
	assert.Contains(t, shown.stdout, "conditions_unknown")
}
