package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Commands returns the tree of all commands for those who describe it, as the man pages
// do. To run one, call Main.
func Commands() *cobra.Command {
	root := newRoot(io.Discard, io.Discard)
	root.InitDefaultCompletionCmd()
	return root
}
