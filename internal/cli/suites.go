package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

func (a *app) suitesCommand() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:   "suites [SUITE]",
		Short: "List the fio suites: what each does, how long it takes, what it writes",
		Long: `Lists the suites of "ssdprobe run": the question that each answers, how long it takes by
default, and what it writes. With the name of a suite, also shows the command that people
type for one of its steps by hand, and lists its parameters. Set them with --set NAME=VALUE.`,
		Example: "  ssdprobe suites\n  ssdprobe suites saturate",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := suite.Describe()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if _, err := suite.Find(args[0]); err != nil {
					return usage(unknownWord("suite", args[0], suite.Names()))
				}
				all = slices.DeleteFunc(all, func(d suite.Description) bool { return d.Name != args[0] })
			}
			return a.show(form, all, func(w io.Writer) error { return listSuites(w, all) })
		},
	}
	addOutput(c, &form)
	return c
}

// listSuites prints one suite with its parameters, or several without.
func listSuites(w io.Writer, all []suite.Description) error {
	var b strings.Builder
	for i, d := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n  %s\n  about %s", d.Name, d.Question, d.Does, units.Span(d.Expected.Round(time.Second)))
		if d.Many {
			b.WriteString("; takes several targets")
		}
		if writes := d.Writes; writes != "" {
			fmt.Fprintf(&b, "; writes %s", writes)
		} else {
			b.WriteString("; only reads")
		}
		b.WriteString("\n")
		if len(all) > 1 {
			continue
		}
		fmt.Fprintf(&b, "\n  by hand, one of its steps would be:\n    %s\n", strings.ReplaceAll(d.Replaces, " && ", " &&\n    "))
		b.WriteString("\n  parameters (--set NAME=VALUE):\n")
		for _, p := range d.Parameters {
			fmt.Fprintf(&b, "    %s=%s\n      %s\n", p.Name, p.Default, p.Doc)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
