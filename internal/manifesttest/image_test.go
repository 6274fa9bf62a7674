//go:build container

package manifesttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// images carries out deploy/container/Containerfile without a registry: the few
// instructions that it uses, in a fresh Debian where it begins with Debian's image, and
// by the Go of this machine where it begins with Go's.
type images struct {
	t    *testing.T
	arch string
	// stages are root directories by name; the last one is the image.
	stages map[string]string
	last   string
}

// stage is what an instruction works in.
type stage struct{ base, root, dir string }

func buildImages(t *testing.T, arch string) images {
	t.Helper()
	m := images{t: t, arch: arch, stages: map[string]string{}}
	text := strings.ReplaceAll(read(t, at("deploy", "container", "Containerfile")), "\\\n", "")
	var s stage
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		rest := strings.TrimSpace(strings.TrimPrefix(line, words[0]))
		switch words[0] {
		case "FROM":
			s = m.from(words[1:])
		case "WORKDIR":
			s.dir = words[1]
			require.NoError(t, os.MkdirAll(filepath.Join(s.root, s.dir), 0o755))
		case "COPY":
			m.copy(s, words[1:])
		case "RUN":
			m.run(s, rest)
		case "ARG", "EXPOSE", "ENTRYPOINT", "CMD":
		default:
			require.Fail(t, "unknown instruction", line)
		}
	}
	return m
}

// from begins a stage: "[--platform=…] BASE [AS NAME]".
func (m *images) from(words []string) stage {
	if strings.HasPrefix(words[0], "--platform=") {
		words = words[1:]
	}
	s := stage{base: words[0], root: filepath.Join(m.t.TempDir(), "root"), dir: "/"}
	m.last = "the last one"
	if len(words) == 3 {
		m.last = words[2]
	}
	earlier, known := m.stages[s.base]
	switch {
	case known:
		require.NoError(m.t, os.CopyFS(s.root, os.DirFS(earlier)))
	case s.base == "scratch", strings.HasPrefix(s.base, "golang:"):
		require.NoError(m.t, os.MkdirAll(s.root, 0o755))
	default:
		release, ok := strings.CutSuffix(strings.TrimPrefix(s.base, "debian:"), "-slim")
		require.True(m.t, ok, s.base)
		m.debian(s.root, release)
	}
	m.stages[m.last] = s.root
	return s
}

// debian makes what the official image is made of, with its list of sources.
func (m *images) debian(root, release string) {
	need(m.t, "debootstrap", "debootstrap")
	run(m.t, "debootstrap", "--variant=minbase", release, root)
	list := filepath.Join(root, "etc", "apt", "sources.list") // "deb MIRROR RELEASE main"
	mirror := strings.Fields(read(m.t, list))[1]
	require.NoError(m.t, os.Remove(list))
	write(m.t, filepath.Join(root, "etc", "apt", "sources.list.d", "debian.sources"), fmt.Sprintf(
		"Types: deb\nURIs: %s\nSuites: %s %s-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
		mirror, release, release), 0o644)
	for _, name := range []string{"/etc/resolv.conf", "/etc/hosts"} { // the builder's network
		write(m.t, filepath.Join(root, name), read(m.t, name), 0o644)
	}
}

// copy is "[--from=STAGE] SOURCE… TARGET"; sources are the repository's else.
func (m *images) copy(s stage, words []string) {
	from := at()
	if name, ok := strings.CutPrefix(words[0], "--from="); ok {
		from, words = m.stages[name], words[1:]
		require.NotEmpty(m.t, from)
	}
	target := words[len(words)-1]
	for _, word := range words[:len(words)-1] {
		source := filepath.Join(from, word)
		to := filepath.Join(s.root, s.dir, target)
		if filepath.IsAbs(target) {
			to = filepath.Join(s.root, target)
		}
		info, err := os.Stat(source)
		require.NoError(m.t, err)
		if info.IsDir() {
			require.NoError(m.t, os.CopyFS(to, os.DirFS(source)))
			continue
		}
		if strings.HasSuffix(target, "/") {
			to = filepath.Join(to, filepath.Base(word))
		}
		write(m.t, to, read(m.t, source), info.Mode())
	}
}

// run runs a command in the stage: in its root where that is a Debian, and beside it,
// with the paths of the stage, where the image brings Go.
func (m *images) run(s stage, command string) {
	c := exec.CommandContext(m.t.Context(), "chroot", s.root, "/bin/sh", "-c", "cd "+s.dir+" && "+command)
	if strings.HasPrefix(s.base, "golang:") {
		c = exec.CommandContext(m.t.Context(), "/bin/sh", "-c", strings.ReplaceAll(command, " /out/", " "+s.root+"/out/"))
		c.Dir = filepath.Join(s.root, s.dir)
	} else {
		proc := filepath.Join(s.root, "proc")
		require.NoError(m.t, unix.Mount("proc", proc, "proc", 0, ""))
		defer func() { assert.NoError(m.t, unix.Unmount(proc, unix.MNT_DETACH)) }()
	}
	c.Env = append(os.Environ(), "TARGETARCH="+m.arch, "VERSION=v1.2.3")
	out, err := c.CombinedOutput()
	require.NoErrorf(m.t, err, "%s:\n%s", command, out)
}

// contents lists the files of a directory.
func contents(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(path, root))
		}
		return err
	}))
	return names
}

func TestImage(t *testing.T) {
	m := buildImages(t, runtime.GOARCH)
	assert.Equal(t, []string{"/usr/bin/ssdprobe"}, contents(t, m.stages["daemon"]))
	image := m.stages[m.last]
	require.Equal(t, []string{"/usr/bin/fio", "/usr/bin/ssdprobe"}, contents(t, image))

	p := startImage(t, image, "files", shipped(t, "files")+quick, volumes{"state": volumeForFiles(t)})
	p.measures(`loop\d+`)
	assert.Contains(t, p.exec("/usr/bin/ssdprobe", "version"), "ssdprobe v1.2.3 ")
	// kubectl exec, as docs/install-kubernetes.md has it.
	out := p.exec("/usr/bin/ssdprobe", "run", "quick", "--config=/etc/ssdprobe/ssdprobe.yaml", "--target=/var/lib/ssdprobe/probe/ssdprobe.dat",
		"--set=time=1s", "--even-if-busy")
	assert.Contains(t, out, "fio-3.")
	assert.Contains(t, out, "random-read-qd32")
}

// TestImageForARM64 builds the images for another architecture on this one, and lets what is in them measure in an
// emulator of programs. That one knows no libaio, so the job uses another engine than the suites.
func TestImageForARM64(t *testing.T) {
	const emulator = "qemu-aarch64-static"
	need(t, emulator, "qemu-user-static")
	m := buildImages(t, "arm64")
	image := m.stages[m.last]
	require.Equal(t, []string{"/usr/bin/fio", "/usr/bin/ssdprobe"}, contents(t, image))

	inPath := t.TempDir()
	write(t, filepath.Join(inPath, "fio"), fmt.Sprintf("#!/bin/sh\nexec %s %s/usr/bin/fio \"$@\"\n", emulator, image), 0o755)
	ssdprobe := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), emulator, append([]string{filepath.Join(image, "usr", "bin", "ssdprobe")}, args...)...)
		c.Env = append(os.Environ(), "PATH="+inPath+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+t.TempDir())
		out, err := c.Output()
		require.NoErrorf(t, err, "%v:\n%s", args, out)
		return string(out)
	}
	assert.Regexp(t, `^ssdprobe v1\.2\.3 .*linux/arm64`, ssdprobe("version"))
	target := t.TempDir()
	assert.Regexp(t, `(?s)read-4k: .* read +[1-9].*durable-write-4k: .* write +[1-9]`, ssdprobe("run", "--target", target, "--rounds=1", "--even-if-busy"))

	job := filepath.Join(t.TempDir(), "read.fio")
	write(t, job, "[global]\nioengine=psync\ndirect=1\nsize=16m\n[read]\nrw=randread\nbs=4k\nruntime=1\ntime_based\n", 0o644)
	out := ssdprobe("run", "--job", job, "--target", target, "--even-if-busy")
	assert.Contains(t, out, "fio-3.")
	assert.Regexp(t, `(?s)the jobs of read\.fio, .* read +[1-9]`, out)
}
