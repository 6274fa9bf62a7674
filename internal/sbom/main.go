// Command sbom writes the software bill of materials of a binary to standard output, in
// CycloneDX JSON: the Go toolchain and each module that the binary itself lists. It is a
// separate program so that its dependencies stay out of ssdprobe:
//
//	go run ./internal/sbom v1.2.3 1795262400 BINARY
//
// The version, and the time in seconds since 1970, are those of the commit, so that the
// same binary gives the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("want VERSION SECONDS BINARY")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("SECONDS: %q is no number of seconds since 1970", args[1])
	}
	info, err := buildinfo.ReadFile(args[2])
	if err != nil {
		return fmt.Errorf("read what the binary was built from: %w", err)
	}
	binary, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	bom := billOf(info, args[0], sha256.Sum256(binary))
	bom.Metadata.Timestamp = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	// Many scanners do not read the newest version of the format yet.
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
}

// billOf returns the bill of materials of a binary with this checksum.
func billOf(info *debug.BuildInfo, version string, sum [sha256.Size]byte) *cyclonedx.BOM {
	whole := component(cyclonedx.ComponentTypeApplication, info.Main.Path, version)
	whole.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	whole.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}
	properties := []cyclonedx.Property{}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			properties = append(properties, cyclonedx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	whole.Properties = &properties

	// Scanners look up vulnerabilities of the standard library under this name.
	parts := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		part := component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version)
		part.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}}
		parts = append(parts, part)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &whole}
	bom.Components = &parts
	return bom
}

// component names a module as https://github.com/package-url/purl-spec does: in lower
// case, and with the + of a version escaped.
func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	purl := "pkg:golang/" + strings.ToLower(path) + "@" + url.QueryEscape(version)
	return cyclonedx.Component{BOMRef: purl, Type: kind, Name: path, Version: version, PackageURL: purl}
}
