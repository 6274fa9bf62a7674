package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/probe"
)

// version is set by the linker: see Makefile.
var version = ""

// build returns what this binary was made from.
func build() export.Build {
	b := export.Build{Version: version, GoVersion: runtime.Version(), Engine: probe.Name}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" { // built by go install: the version of the module
		b.Version = info.Main.Version
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-modified"
		}
	}
	b.Revision += modified
	return b
}

// generator returns the program name and version that reports contain.
func generator() string { return "ssdprobe " + build().Version }

func (a *app) versionCommand() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: "  ssdprobe version\n  ssdprobe version --output json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			b := build()
			platform := runtime.GOOS + "/" + runtime.GOARCH
			all := map[string]string{"version": b.Version, "revision": b.Revision, "go_version": b.GoVersion, "platform": platform}
			return a.show(form, all, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "ssdprobe %s (revision %s, %s, %s)\n", b.Version, cmp.Or(b.Revision, "unknown"), b.GoVersion, platform)
				return err
			})
		},
	}
	addOutput(c, &form)
	return c
}
