package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
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
			Use:     "check FILE",
			Short:   "List all problems of a configuration file with line numbers, or what it changes",
			Example: "  ssdprobe config check /etc/ssdprobe/ssdprobe.yaml",
			Args:    arguments(cobra.ExactArgs(1)),
			RunE:    func(_ *cobra.Command, args []string) error { return a.checkConfig(args[0]) },
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
			RunE:    func(*cobra.Command, []string) error { return a.schema() },
		},
	)
	return c
}

func (a *app) checkConfig(path string) error {
	a.configFile = path
	c, err := a.load() // what depends on the machine is not the file's
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings() {
		if err := tell(a.stdout, "%s: warning: %s\n", path, warning); err != nil {
			return err
		}
	}
	if err := tell(a.stdout, "%s: valid\n", path); err != nil {
		return err
	}
	differences := c.Since(config.Default())
	if len(differences) == 0 {
		return tell(a.stdout, "It changes no default.\n")
	}
	for _, d := range differences {
		line := fmt.Sprintf("%s: %s (default %s)", d.Key, d.Value, d.Before)
		switch {
		case d.Before == "":
			line = fmt.Sprintf("%s: %s (added)", d.Key, d.Value)
		case d.Value == "":
			line = d.Key + ": left out (there by default)"
		}
		if err := tell(a.stdout, "  %s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showConfig() error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	text, err := c.YAML()
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

func (a *app) schema() error {
	text, err := config.Schema()
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}
