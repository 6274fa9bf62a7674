// Command generate writes all files of the product that are made from code: dashboards, Prometheus rules and alerts,
// deploy/kubernetes/monitoring, deploy/ssdprobe.yaml, the schema of the chart's values, docs/configuration.md,
// docs/metrics.md and docs/suites.md. `make generate` runs it, and a test fails when one of them is out of date.
package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

//go:generate go run .

// root is the repository, relative to the directory of this package, in which go generate runs the command.
const root = "../.."

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// files returns all generated files by their paths in the repository. root is the repository.
func files(root fs.FS) (map[string]string, error) {
	all := map[string]string{}
	for _, make := range []func(fs.FS) (map[string]string, error){dashboardFiles, monitoring, configuration, metrics, suites} {
		some, err := make(root)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}

func dashboardFiles(fs.FS) (map[string]string, error) { return dashboards.Files() }

func generate() error {
	all, err := files(os.DirFS(root))
	if err != nil {
		return err
	}
	for _, folder := range dashboards.Folders() { // remove dashboards that are no longer made
		if err := os.RemoveAll(filepath.Join(root, folder)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
