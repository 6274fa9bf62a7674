package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/report/text"
)

// help writes what cobra would, folded for a terminal.
func help(c *cobra.Command) error {
	c.InitDefaultHelpFlag() // "ssdprobe help" has not read the flags of c
	return text.Help(c.OutOrStdout(), strings.TrimSpace(cmp.Or(c.Long, c.Short))+"\n\n"+c.UsageString())
}
