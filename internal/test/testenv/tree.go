package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// CopyTree copies the files of a work tree that git tracks or would track into a new directory,
// given as an absolute path. The copy is like a clone without the history: it has no build results,
// and does not change while a test works with it.
func CopyTree(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	const script = `cd "$0" && git ls-files --cached --others --exclude-standard -z |
		tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"`
	if out, err := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", script, from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the tree: %w: %s", err, out)
	}
	return nil
}
