package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Check a configuration file, show the configuration in force, or print the schema",
		Example: "  ssdprobe config show\n  ssdprobe config check /etc/ssdprobe/ssdprobe.yaml",
		Args:    noSubcommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use:   "check [FILE]",
			Short: "List all problems of a configuration file with line numbers, or what it changes",
			Long: `Lists everything that is wrong with a configuration file, with line numbers. If nothing is
wrong, it lists what the file changes from the defaults, key by key, and warns about settings
that are probably not meant. Without FILE, the file is that of --config or $SSDPROBE_CONFIG.`,
			Example: "  ssdprobe config check /etc/ssdprobe/ssdprobe.yaml",
			Args:    arguments(cobra.MaximumNArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error {
				path := a.configFile
				if len(args) > 0 {
					path = args[0]
				}
				if path == "" {
					return usage(errors.New("a file is missing: name it here, with --config or in $SSDPROBE_CONFIG; e.g. ssdprobe config check /etc/ssdprobe/ssdprobe.yaml"))
				}
				return a.checkConfig(path)
			},
		},
		&cobra.Command{
			Use:     "show",
			Short:   "Print the configuration in force, defaults included",
			Example: "  ssdprobe config show\n  ssdprobe config show --config /etc/ssdprobe/ssdprobe.yaml",
			Args:    arguments(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return a.showConfig() },
		},
		&cobra.Command{
			Use:   "schema",
			Short: "Print the JSON schema of configuration files",
			Long: `Prints the JSON schema (draft 7) of configuration files, for editors and other programs
that check YAML. "config check" finds more, such as two keys that contradict each other.`,
			Example: "  ssdprobe config schema > ssdprobe.schema.json",
			Args:    arguments(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return a.print(config.Schema()) },
		},
	)
	return c
}

func (a *app) checkConfig(path string) error {
	a.configFile = path
	c, err := a.load() // without settings that depend on the machine, which the file does not determine
	if err != nil {
		return err
	}
	var blocks, changes []document.Block
	for _, warning := range warnings(c) {
		blocks = append(blocks, document.Sentence(path+": warning: "+warning))
	}
	blocks = append(blocks, document.Sentence(path+": valid"))
	for _, d := range c.Since(config.Default()) {
		value := fmt.Sprintf("%s (default %s)", d.Value, d.Before)
		switch {
		case d.Before == "":
			value = d.Value + " (added)"
		case d.Value == "":
			value = "left out (there by default)"
		}
		changes = append(changes, document.Note{Label: d.Key + ": ", Text: value})
	}
	if len(changes) == 0 {
		changes = append(changes, document.Sentence("It changes no default."))
	}
	return text.Write(a.stdout, "what was checked", append(blocks, document.Section{Blocks: changes})...)
}

func (a *app) showConfig() error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	if a.configFile == "" { // a daemon on this machine may have one
		_, _ = fmt.Fprintln(a.stderr, "no configuration file is named by --config or $SSDPROBE_CONFIG, so these are the defaults")
	}
	return a.print(c.YAML())
}

// print writes a text, if it could be made.
func (a *app) print(text []byte, err error) error {
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}
