package manifesttest

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// dist builds all release files of a tree into a directory of the given name.
func dist(tree, name string) (string, error) {
	dir := filepath.Join(scratch, name)
	c := exec.Command(filepath.Join(tree, "scripts", "dist.sh"), "-o", dir)
	c.Env = append(os.Environ(), "VERSION=v1.2.3-rc1", "SOURCE_DATE_EPOCH=1795262400")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make dist: %w:\n%s", err, out)
	}
	return dir, nil
}

// makeDist calls dist once for all tests, on a copy of the tree, which does not change meanwhile.
var makeDist = sync.OnceValues(func() (string, error) {
	tree := filepath.Join(scratch, "tree")
	if err := testenv.CopyTree(context.Background(), at(), tree); err != nil {
		return "", err
	}
	return dist(tree, "dist")
})

// made returns the path of the only release file with the given suffix.
func made(t *testing.T, suffix string) string {
	t.Helper()
	dir, err := makeDist()
	require.NoError(t, err)
	found, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// pages returns the required man pages: one for each command.
func pages() []string {
	var all []string
	commands := cli.Commands().Commands()
	for len(commands) > 0 {
		c := commands[0]
		commands = append(commands[1:], c.Commands()...)
		if !c.IsAvailableCommand() {
			continue // only ssdprobe itself starts it
		}
		all = append(all, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1.gz")
	}
	return append(all, "ssdprobe.1.gz")
}

func TestDist(t *testing.T) {
	t.Parallel()
	sums := made(t, "SHA256SUMS")
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = filepath.Dir(sums)
	out, err := check.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)

	want := []string{
		"completions/_ssdprobe", "completions/ssdprobe.bash", "completions/ssdprobe.fish",
		"ssdprobe-1.2.3~rc1-1.aarch64.rpm", "ssdprobe-1.2.3~rc1-1.x86_64.rpm",
		"ssdprobe-linux-amd64", "ssdprobe-linux-amd64.cdx.json", "ssdprobe-linux-arm64", "ssdprobe-linux-arm64.cdx.json",
		"ssdprobe_1.2.3~rc1_amd64.deb", "ssdprobe_1.2.3~rc1_arm64.deb",
	}
	for _, page := range pages() {
		want = append(want, "man/"+page)
	}
	var got []string
	for line := range strings.Lines(read(t, sums)) {
		got = append(got, strings.Fields(line)[1])
	}
	assert.ElementsMatch(t, want, got)

	elsewhere := filepath.Join(scratch, "elsewhere")
	require.NoError(t, os.Rename(filepath.Join(scratch, "tree"), elsewhere))
	again, err := dist(elsewhere, "dist-again")
	require.NoError(t, err)
	assert.Equal(t, read(t, sums), read(t, filepath.Join(again, "SHA256SUMS")), "the same bytes of the same commit")
}

func TestBinariesAreStatic(t *testing.T) {
	t.Parallel()
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		file, err := elf.Open(made(t, "ssdprobe-linux-"+arch))
		require.NoError(t, err)
		assert.Equal(t, machine, file.Machine)
		assert.False(t, slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), "asks for no loader")
		require.NoError(t, file.Close())
	}
	assert.Contains(t, run(t, made(t, "ssdprobe-linux-"+runtime.GOARCH), "version"), "ssdprobe v1.2.3-rc1 ")
}

// The packages that scanners look up are those in go.mod, and the bill of materials belongs to this very binary.
func TestBillsOfMaterials(t *testing.T) {
	t.Parallel()
	required := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`).FindAllStringSubmatch(read(t, at("go.mod")), -1) {
		required[match[1]] = match[2]
	}
	for _, arch := range []string{"amd64", "arm64"} {
		var bill struct {
			BOMFormat string
			Metadata  struct {
				Component struct {
					Version string
					Hashes  []struct{ Alg, Content string }
				}
			}
			Components []struct{ Name, Version string }
		}
		require.NoError(t, json.Unmarshal([]byte(read(t, made(t, "ssdprobe-linux-"+arch+".cdx.json"))), &bill))
		assert.Equal(t, "CycloneDX", bill.BOMFormat)
		assert.Equal(t, "v1.2.3-rc1", bill.Metadata.Component.Version)
		sum := sha256.Sum256([]byte(read(t, made(t, "ssdprobe-linux-"+arch))))
		require.Len(t, bill.Metadata.Component.Hashes, 1)
		assert.Equal(t, hex.EncodeToString(sum[:]), bill.Metadata.Component.Hashes[0].Content)
		named := map[string]string{}
		for _, c := range bill.Components {
			named[c.Name] = c.Version
		}
		for _, module := range []string{"github.com/spf13/cobra", "github.com/prometheus/client_golang"} {
			require.Contains(t, required, module)
			assert.Equal(t, required[module], named[module], module)
		}
		assert.Equal(t, strings.TrimPrefix(runtime.Version(), "go"), named["std"])
		assert.NotContains(t, named, "github.com/stretchr/testify", "tests are not in the binary")
	}
}

// readable asserts that the man pages in a root directory have no errors.
func readable(t *testing.T, root string) {
	t.Helper()
	need(t, "mandoc", "mandoc")
	installed, err := filepath.Glob(filepath.Join(root, "usr", "share", "man", "man1", "*"))
	require.NoError(t, err)
	require.Len(t, installed, len(pages()))
	for _, page := range installed { // mandoc reads only the first of several compressed pages
		assert.Empty(t, run(t, "mandoc", "-Tlint", "-Wwarning", page))
	}
	shown := run(t, "mandoc", "-Tascii", filepath.Join(root, "usr", "share", "man", "man1", "ssdprobe-run.1.gz"))
	shown = regexp.MustCompile(`.\x08`).ReplaceAllString(shown, "") // bold text is printed twice
	assert.Contains(t, shown, "--size=SIZE")
	assert.Contains(t, shown, "(default")
	assert.Contains(t, shown, "  ssdprobe run --target /var/tmp\n")
}
