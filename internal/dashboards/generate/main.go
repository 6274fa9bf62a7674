// Command generate writes the files of package dashboards; `make generate` runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

// root is the repository, seen from the folder of the package, where go generate runs this.
const root = "../.."

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	files, err := dashboards.Files(os.DirFS(root))
	if err != nil {
		return err
	}
	for _, folder := range dashboards.Folders() { // a dashboard that is no longer made goes
		if err := os.RemoveAll(filepath.Join(root, folder)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
