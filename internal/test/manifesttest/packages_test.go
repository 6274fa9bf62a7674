package manifesttest

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allKeys is the list of all keys, with their defaults.
const allKeys = "/usr/share/doc/ssdprobe/ssdprobe.yaml"

// common holds the files of both packages, with their modes.
var common = map[string]string{
	"/usr/bin/ssdprobe":                                  "-rwxr-xr-x",
	"/etc/ssdprobe/ssdprobe.yaml":                        "-rw-r--r--",
	"/usr/lib/systemd/system/ssdprobe.service":           "-rw-r--r--",
	"/usr/lib/systemd/system/ssdprobe.socket":            "-rw-r--r--",
	"/usr/share/bash-completion/completions/ssdprobe":    "-rw-r--r--",
	"/usr/share/fish/vendor_completions.d/ssdprobe.fish": "-rw-r--r--",
	"/usr/share/doc/ssdprobe/CHANGELOG.md":               "-rw-r--r--",
	allKeys:                                              "-rw-r--r--",
	"/usr/share/doc/ssdprobe/ssdprobe.cdx.json":          "-rw-r--r--",
}

// with returns the common files, the man pages, and the additional files of one kind of package.
func with(more ...string) map[string]string {
	all := maps.Clone(common)
	for _, page := range pages() {
		all["/usr/share/man/man1/"+page] = "-rw-r--r--"
	}
	for from, to := range map[string]string{
		"deploy/prometheus/*.yaml": "prometheus", "deploy/prometheus/alertmanager/*.yaml": "prometheus/alertmanager", "dashboards/*.json": "dashboards",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", from))
		if err != nil || len(files) == 0 {
			panic("no " + from)
		}
		for _, file := range files {
			all["/usr/share/doc/ssdprobe/"+to+"/"+filepath.Base(file)] = "-rw-r--r--"
		}
	}
	for _, name := range more {
		all[name] = "-rw-r--r--"
	}
	return all
}

// listed parses lines that begin with mode and owner and end with a path, without
// directories.
func listed(text string) map[string]string {
	all := map[string]string{}
	line := regexp.MustCompile(`(?m)^(-\S+).*\sroot[/ ]+root\s.*?\.?(/\S+)$`)
	for _, match := range line.FindAllStringSubmatch(text, -1) {
		all[match[2]] = match[1]
	}
	return all
}

// host returns a root directory with a shell and a systemctl that records its calls.
// The real systemctl needs a running systemd.
func host(t *testing.T) (root string, calls func() string) {
	t.Helper()
	if os.Geteuid() != 0 && os.Getenv("CI") != "true" {
		t.Skip("dpkg and rpm install into another root directory only for root")
	}
	need(t, "busybox", "busybox-static")
	root = t.TempDir()
	busybox, err := exec.LookPath("busybox")
	require.NoError(t, err)
	for _, name := range []string{"/bin/sh", "/bin/rm"} {
		write(t, filepath.Join(root, name), read(t, busybox), 0o755)
	}
	write(t, filepath.Join(root, "bin", "systemctl"), "#!/bin/sh\necho \"$@\" >>/calls\n", 0o755)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "run", "systemd", "system"), 0o755))
	write(t, filepath.Join(root, "var", "lib", "ssdprobe", "targets", "one.json"), "{}", 0o600)
	return root, func() string {
		path := filepath.Join(root, "calls")
		text := read(t, path)
		require.NoError(t, os.Remove(path))
		return text
	}
}

// rpmArch is rpm's name of this machine's architecture.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]

const (
	atInstall = "daemon-reload\ntry-restart ssdprobe.service\n"
	atRemove  = "--quiet disable --now ssdprobe.socket ssdprobe.service\n"
)

// withDefault returns the package of a next version, which has another default.
func withDefault(t *testing.T, deb, before, after string) string {
	t.Helper()
	next := filepath.Join(t.TempDir(), "next")
	run(t, "dpkg-deb", "--raw-extract", deb, next)
	for _, path := range []string{"/etc/ssdprobe/ssdprobe.yaml", allKeys} {
		path = filepath.Join(next, path)
		write(t, path, strings.ReplaceAll(read(t, path), before, after), 0o644)
	}
	run(t, "dpkg-deb", "--build", next)
	return next + ".deb"
}

func TestDeb(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb", "dpkg")
	deb := made(t, runtime.GOARCH+".deb")
	assert.Equal(t, with("/usr/share/zsh/vendor-completions/_ssdprobe", "/usr/share/doc/ssdprobe/copyright"),
		listed(run(t, "dpkg-deb", "--contents", deb)))
	assert.Equal(t, "ssdprobe 1.2.3~rc1 util-linux fio", run(t, "dpkg-deb", "--show", "--showformat=${Package} ${Version} ${Depends} ${Recommends}", deb))

	root, calls := host(t)
	admin := filepath.Join(root, "var", "lib", "dpkg")
	for _, name := range []string{"status", "available", "info/format", "updates/.keep"} {
		text := ""
		if name == "info/format" {
			text = "1\n"
		}
		write(t, filepath.Join(admin, name), text, 0o644)
	}
	require.NoError(t, os.Remove(filepath.Join(admin, "updates/.keep")))
	dpkg := func(args ...string) {
		run(t, "dpkg", append([]string{"--root=" + root, "--force-depends"}, args...)...)
	}
	configuration := filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml")
	state := filepath.Join(root, "var", "lib", "ssdprobe")

	dpkg("--install", deb)
	assert.Equal(t, atInstall, calls())
	assert.Contains(t, run(t, filepath.Join(root, "usr", "bin", "ssdprobe"), "config", "check", configuration), "valid")
	readable(t, root)
	completes(t, root, filepath.Join("zsh", "vendor-completions", "_ssdprobe"))

	write(t, configuration, "rounds_at_once: 2\n", 0o644)
	dpkg("--install", deb)
	assert.Equal(t, "daemon-reload\n"+atInstall, calls(), "an upgrade stops nothing")
	assert.Equal(t, "rounds_at_once: 2\n", read(t, configuration), "the administrator's configuration stays")

	// A new default is nothing to ask about: nobody is there to answer.
	dpkg("--install", withDefault(t, deb, "rounds_at_once: 1", "rounds_at_once: 3"))
	assert.Equal(t, "daemon-reload\n"+atInstall, calls())
	assert.Equal(t, "rounds_at_once: 2\n", read(t, configuration))
	assert.Contains(t, read(t, filepath.Join(root, allKeys)), "rounds_at_once: 3")

	dpkg("--remove", "ssdprobe")
	assert.Equal(t, atRemove+"daemon-reload\n", calls())
	assert.FileExists(t, configuration)
	assert.DirExists(t, state)

	dpkg("--purge", "ssdprobe")
	assert.Equal(t, "daemon-reload\n", calls())
	assert.NoFileExists(t, configuration)
	assert.NoDirExists(t, state)
}

func TestRPM(t *testing.T) {
	t.Parallel()
	need(t, "rpm", "rpm")
	rpm := made(t, rpmArch+".rpm")
	assert.Equal(t, with("/usr/share/zsh/site-functions/_ssdprobe", "/usr/share/licenses/ssdprobe/LICENSE"),
		listed(run(t, "rpm", "--query", "--package", "--list", "--verbose", rpm)))
	assert.Equal(t, "/etc/ssdprobe/ssdprobe.yaml\n", run(t, "rpm", "--query", "--package", "--configfiles", rpm))
	assert.Equal(t, "fio\n", run(t, "rpm", "--query", "--package", "--recommends", rpm))
	assert.Contains(t, strings.Split(run(t, "rpm", "--query", "--package", "--requires", rpm), "\n"), "util-linux")

	root, calls := host(t)
	manage := func(args ...string) { run(t, "rpm", append([]string{"--root", root, "--nodeps"}, args...)...) }
	configuration := filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml")

	manage("--install", rpm)
	assert.Equal(t, atInstall, calls())
	readable(t, root)
	completes(t, root, filepath.Join("zsh", "site-functions", "_ssdprobe"))
	write(t, configuration, "rounds_at_once: 2\n", 0o644)
	manage("--upgrade", "--force", rpm)
	assert.NotContains(t, calls(), "disable")
	assert.Equal(t, "rounds_at_once: 2\n", read(t, configuration))
	manage("--erase", "ssdprobe")
	assert.Equal(t, atRemove+"daemon-reload\n", calls())
	assert.NoFileExists(t, filepath.Join(root, "usr", "bin", "ssdprobe"))
	assert.DirExists(t, filepath.Join(root, "var", "lib", "ssdprobe"))
}
