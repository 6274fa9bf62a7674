package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The binary is the test's own: Go records in every binary what it was built from.
func TestTheBillNamesWhatABinaryIsMadeOf(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	info, err := buildinfo.ReadFile(self)
	require.NoError(t, err)
	binary, err := os.ReadFile(self)
	require.NoError(t, err)
	sum := sha256.Sum256(binary)

	var out, again bytes.Buffer
	require.NoError(t, run([]string{"v1.2.3+more", "1795262400", self}, &out))
	require.NoError(t, run([]string{"v1.2.3+more", "1795262400", self}, &again))
	assert.Equal(t, out.String(), again.String())
	bom := cyclonedx.NewBOM()
	require.NoError(t, cyclonedx.NewBOMDecoder(&out, cyclonedx.BOMFileFormatJSON).Decode(bom))

	assert.Equal(t, "2026-11-21T12:00:00Z", bom.Metadata.Timestamp)
	whole := bom.Metadata.Component
	assert.Equal(t, "pkg:golang/github.com/ssdprobe/ssdprobe@v1.2.3%2Bmore", whole.PackageURL)
	assert.Equal(t, hex.EncodeToString(sum[:]), (*whole.Hashes)[0].Value)
	assert.Contains(t, *whole.Properties, cyclonedx.Property{Name: "go:GOARCH", Value: runtime.GOARCH})

	parts := map[string]string{}
	for _, c := range *bom.Components {
		parts[c.PackageURL] = c.Name
	}
	require.NotEmpty(t, info.Deps)
	assert.Len(t, parts, len(info.Deps)+1, "and the standard library")
	assert.Contains(t, parts, "pkg:golang/std@"+runtime.Version()[len("go"):])
	assert.Equal(t, "github.com/CycloneDX/cyclonedx-go", parts["pkg:golang/github.com/cyclonedx/cyclonedx-go@"+version(t, info, "github.com/CycloneDX/cyclonedx-go")])
}

func version(t *testing.T, info *debug.BuildInfo, path string) string {
	t.Helper()
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	require.Failf(t, "no such module", "%s in %v", path, info)
	return ""
}

func TestReplacedModulesAreNamedAsWhatReplacesThem(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/Fork", Version: "v1.0.1", Sum: "h1:x="}},
	}}
	part := (*billOf(info, "v1", [sha256.Size]byte{}).Components)[1]
	assert.Equal(t, "pkg:golang/example.org/fork@v1.0.1", part.PackageURL)
	assert.Equal(t, []cyclonedx.Property{{Name: "go:sum", Value: "h1:x="}}, *part.Properties)
}

func TestWrongUseIsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"want VERSION SECONDS BINARY":             {"v1"},
		`"today" is no number of seconds`:         {"v1", "today", "x"},
		"read what the binary was built from: co": {"v1", "0", "/nonexistent/x"},
	} {
		assert.ErrorContains(t, run(args, &bytes.Buffer{}), want)
	}
}
