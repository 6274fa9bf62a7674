package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/report/text"
)

// help writes the same as cobra's help, wrapped for a terminal.
func help(c *cobra.Command) error {
	c.InitDefaultHelpFlag() // "ssdprobe help" has not parsed the flags of c
	return text.Help(c.OutOrStdout(), strings.TrimSpace(cmp.Or(c.Long, c.Short))+"\n\n"+c.UsageString())
}
