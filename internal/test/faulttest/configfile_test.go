package faulttest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// mountedConfig is a configuration in a directory as the kubelet mounts a ConfigMap: the content of
// the files changes when a link is swapped.
type mountedConfig struct{ dir string }

func mountConfig(t *testing.T, configuration string) mountedConfig {
	t.Helper()
	c := mountedConfig{t.TempDir()}
	require.NoError(t, os.Symlink(filepath.Join("..data", "ssdprobe.yaml"), c.path()))
	c.swap(t, "v1", configuration)
	return c
}

func (c mountedConfig) path() string { return filepath.Join(c.dir, "ssdprobe.yaml") }

// swap replaces the content.
func (c mountedConfig) swap(t *testing.T, version, configuration string) {
	t.Helper()
	dir := filepath.Join(c.dir, "..", version)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssdprobe.yaml"), []byte(configuration), 0o600))
	next := filepath.Join(c.dir, "..data_tmp")
	require.NoError(t, os.Symlink(dir, next))
	require.NoError(t, os.Rename(next, filepath.Join(c.dir, "..data")))
}

func startConfigured(t *testing.T, config string) *daemon {
	t.Helper()
	state := t.TempDir()
	p := start(t, nil, "daemon", "--config", config, "--state-dir", state, "--web.listen-address", "127.0.0.1:0")
	return &daemon{Program: p, config: config, state: state, url: p.Stdout.Find(t, `status +(http://\S+/)`)[1]}
}

// awaitChanged waits until the file is reported as changed (1) or unchanged (0) from the active configuration.
func (d *daemon) awaitChanged(t *testing.T, changed float64) {
	t.Helper()
	eventually(t, "the configuration file has changed", func() bool {
		v, found := d.scrape(t).value(t, "ssdprobe_config_file_changed", nil)
		return found && v == changed
	})
}

// A ConfigMap is edited manually: the active configuration stays, and the change is reported. The
// same holds for an invalid one, and when the filesystem of the file hangs.
func TestConfigurationEditedByHand(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	one := onFiles(t, dir)
	config := mountConfig(t, one)
	d := startConfigured(t, config.path())
	d.awaitChanged(t, 0)

	config.swap(t, "v2", one+"drift: {threshold: 0.3}\n")
	d.awaitChanged(t, 1)
	_, status := d.ask(t, "api/v1/status")
	assert.Contains(t, status, `"config_file"`)
	assert.Contains(t, status, "is not loaded: load it with")
	config.swap(t, "v3", one+"colour: red\n")
	d.Stderr.Find(t, `level=WARN msg="configuration file" warning="the configuration file .* is not loaded; it would be refused: .*colour`)
	_, page := d.ask(t, "")
	assert.Contains(t, page, "it would be refused")
	d.Signal(t, syscall.SIGHUP)
	d.Stderr.Find(t, saysRefused)
	d.awaitChanged(t, 1)

	config.swap(t, "v4", one)
	d.Stderr.Find(t, `msg="the configuration file holds what is loaded again"`)
	d.awaitChanged(t, 0)
	d.awaitCollector(t, "configuration", true)
	config.swap(t, "v5", one+"drift: {threshold: 0.4}\n")
	d.awaitChanged(t, 1)
	d.Signal(t, syscall.SIGHUP)
	d.Stderr.Find(t, saysReloaded)
	d.awaitChanged(t, 0)

	hung := testenv.HungFilesystem(t, config.dir)
	d.Stderr.Find(t, `level=WARN msg="configuration file" warning="the configuration file .* cannot be read; what was loaded stays in force: no answer`)
	d.Signal(t, syscall.SIGHUP)
	d.Stderr.Find(t, saysRefused+`.*a call made at`)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	hung.End(t)
	d.awaitChanged(t, 0)
	d.awaitCollector(t, "configuration", true)
	d.stop(t)
	assert.Len(t, regexp.MustCompile(`level=WARN msg="configuration file" warning="the configuration file .*would be refused`).FindAllString(d.Stderr.Text(), -1), 1, "once for each content")
}

// With reload_on_change, an edited file is loaded, and an invalid one is refused. Taking that edit back is enough: nothing
// is refused any longer.
func TestReloadOnChange(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	one := "reload_on_change: true\n" + onFiles(t, dir)
	config := mountConfig(t, one)
	d := startConfigured(t, config.path())
	two := one + "  - {name: read-8k, block_size: 8KiB, interval: 1s, ios: 16}\n"
	config.swap(t, "v2", two)
	d.awaitMore(t, fileID(dir), "read-8k", "ok", 1)
	d.awaitChanged(t, 0)
	config.swap(t, "v3", one+"colour: red\n")
	d.Stderr.Find(t, saysRefused+`.*colour`)
	d.awaitChanged(t, 1)
	d.awaitCollector(t, "configuration", false)
	d.awaitMore(t, fileID(dir), "read-8k", "ok", 1)
	config.swap(t, "v4", two)
	d.awaitChanged(t, 0)
	d.awaitCollector(t, "configuration", true)
	_, status := d.ask(t, "api/v1/status")
	assert.NotContains(t, status, `"config_file"`)
	d.stop(t)
	assert.Len(t, regexp.MustCompile(saysRefused).FindAllString(d.Stderr.Text(), -1), 1, "it is not tried again and again")
}
