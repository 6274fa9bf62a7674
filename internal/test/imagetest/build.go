package imagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Options says what to build.
type Options struct {
	Arch    string // amd64 or arm64
	Version string // the version that `ssdprobe version` prints
	// Cached reuses the last result of a Debian stage if none of its inputs has changed: building fio takes minutes.
	Cached bool
}

// Images holds the root directories by the name of their stage; the last one is the image.
type Images struct {
	Stages map[string]string
	Last   string
}

// root is the root of the repository, relative to any package in internal/test.
const root = "../../.."

// stage is the context of an instruction.
type stage struct{ base, root, dir string }

type builder struct {
	t testing.TB
	Options
	Images
}

// Build executes the file in temporary directories.
func Build(t testing.TB, o Options) Images {
	t.Helper()
	b := builder{t, o, Images{Stages: map[string]string{}}}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "container", "Containerfile"))
	require.NoError(t, err)
	for i, part := range strings.Split("\n"+strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM ") {
		if i > 0 {
			b.stage(part)
		}
	}
	return b.Images
}

// stage executes one stage: "[--platform=…] BASE [AS NAME]" and the instructions below it.
func (b *builder) stage(text string) {
	first, instructions, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	if strings.HasPrefix(words[0], "--platform=") {
		words = words[1:]
	}
	s := stage{base: words[0], root: filepath.Join(b.t.TempDir(), "root"), dir: "/"}
	b.Last = "the last one"
	if len(words) == 3 {
		b.Last = words[2]
	}
	b.Stages[b.Last] = s.root
	debian := strings.HasPrefix(s.base, "debian:")
	if debian && b.Cached && b.fromCache(s, text) {
		return
	}
	b.from(s)
	for line := range strings.Lines(instructions) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "WORKDIR":
			s.dir = words[1]
			require.NoError(b.t, os.MkdirAll(filepath.Join(s.root, s.dir), 0o755))
		case "COPY":
			b.copy(s, words[1:])
		case "RUN":
			b.run(s, strings.TrimSpace(strings.TrimPrefix(line, words[0])))
		case "ARG", "EXPOSE", "ENTRYPOINT", "CMD":
		default:
			require.Fail(b.t, "unknown instruction", line)
		}
	}
	if debian && b.Cached {
		b.toCache(s, text)
	}
}

// from begins a stage.
func (b *builder) from(s stage) {
	earlier, known := b.Stages[s.base]
	switch {
	case known:
		require.NoError(b.t, os.CopyFS(s.root, os.DirFS(earlier)))
	case s.base == "scratch", strings.HasPrefix(s.base, "golang:"):
		require.NoError(b.t, os.MkdirAll(s.root, 0o755))
	default:
		release, ok := strings.CutSuffix(strings.TrimPrefix(s.base, "debian:"), "-slim")
		require.True(b.t, ok, s.base)
		debian(b.t, s.root, release)
	}
}

// copy executes "[--from=STAGE] SOURCE… TARGET"; without a stage, sources are in the repository.
func (b *builder) copy(s stage, words []string) {
	from := root
	if name, ok := strings.CutPrefix(words[0], "--from="); ok {
		from, words = b.Stages[name], words[1:]
		require.NotEmpty(b.t, from)
	}
	target := words[len(words)-1]
	for _, word := range words[:len(words)-1] {
		source := filepath.Join(from, word)
		to := filepath.Join(s.root, s.dir, target)
		if filepath.IsAbs(target) {
			to = filepath.Join(s.root, target)
		}
		info, err := os.Stat(source)
		require.NoError(b.t, err)
		if info.IsDir() {
			require.NoError(b.t, os.CopyFS(to, os.DirFS(source)))
			continue
		}
		if strings.HasSuffix(target, "/") {
			to = filepath.Join(to, filepath.Base(word))
		}
		text, err := os.ReadFile(source)
		require.NoError(b.t, err)
		write(b.t, to, string(text), info.Mode())
	}
}

// run runs a command in the stage. A Debian stage runs it in its root; a stage on Go's image runs
// it on this machine, with the paths of the stage.
func (b *builder) run(s stage, command string) {
	own := []string{"TARGETARCH=" + b.Arch, "VERSION=" + b.Version}
	c := exec.CommandContext(b.t.Context(), "chroot", s.root, "/bin/sh", "-c", "cd "+s.dir+" && "+command)
	if strings.HasPrefix(s.base, "golang:") {
		c = exec.CommandContext(b.t.Context(), "/bin/sh", "-c", strings.ReplaceAll(command, " /out/", " "+s.root+"/out/"))
		c.Dir = filepath.Join(s.root, s.dir)
	} else {
		own = append(own, "TMPDIR=/tmp") // this machine's may not exist in the root
		proc := filepath.Join(s.root, "proc")
		require.NoError(b.t, unix.Mount("proc", proc, "proc", 0, ""))
		defer func() { assert.NoError(b.t, unix.Unmount(proc, unix.MNT_DETACH)) }()
	}
	c.Env = append(os.Environ(), own...)
	out, err := c.CombinedOutput()
	require.NoErrorf(b.t, err, "%s:\n%s", command, out)
}

// write writes a file and the directories above it.
func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
}
