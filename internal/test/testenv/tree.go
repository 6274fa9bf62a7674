package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// CopyTree copies what git has, or would have, of a work tree into a new directory, an
// absolute path, as a clone has it but for the history: nothing that was built, and
// nothing that changes while a test works with it.
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
